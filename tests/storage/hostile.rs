//! Hostile names, sizes, paths and links.
