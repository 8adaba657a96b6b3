//! Machines that are processes, volumes that are files.
