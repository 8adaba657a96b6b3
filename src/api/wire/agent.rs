//! What an agent and the node tell each other.
