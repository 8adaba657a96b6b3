//! Tables, JSON and YAML.
