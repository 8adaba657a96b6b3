//! Declared wishes, read from YAML.
