//! How much a manifest may hold. A larger one is split into several.

/// The longest file, in bytes.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The files read in one go.
pub const FILES_MAX: usize = 1_000;
/// All files read in one go, in bytes.
pub const FILES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The documents read in one go, empty ones included.
pub const DOCUMENTS_MAX: usize = 10_000;
/// The deepest nesting of lists and mappings.
pub const DEPTH_MAX: usize = 32;
/// The values in one document: texts, lists and mappings, keys not counted.
pub const NODES_MAX: usize = 100_000;
/// What aliases (`*anchor`) may repeat in one file, in bytes of text, each value counted as at least 16.
pub const REPEATED_BYTES_MAX: usize = 1024 * 1024;
/// The problems that are reported.
pub const PROBLEMS_MAX: usize = 20;

/// The longest text in a document, in bytes.
pub const TEXT_BYTES_MAX: usize = 4 * 1024;
/// The workloads of one machine.
pub const WORKLOADS_MAX: usize = 64;
/// The elements of one command.
pub const ARGUMENTS_MAX: usize = 256;
/// The environment variables of one workload.
pub const VARIABLES_MAX: usize = 256;
/// The volumes that one workload uses.
pub const VOLUMES_USED_MAX: usize = 64;
/// The labels of one machine.
pub const LABELS_MAX: usize = 64;
/// The longest label name, in bytes.
pub const LABEL_NAME_BYTES_MAX: usize = 63;
/// The longest period in a policy: ten years, in milliseconds.
pub const PERIOD_MS_MAX: u64 = 3650 * 24 * 3_600_000;
/// Seats of one replica set: as many members as any engine takes.
pub const SEATS_MAX: usize = 50;
/// Addresses of one seat.
pub const ADDRESSES_MAX: usize = 16;
/// What one machine asks for beside itself: storage, by name.
pub const CLAIMS_MAX: usize = 64;
/// The volumes or filesystems that are asked for under one name.
pub const CLAIM_COUNT_MAX: u64 = 1_000;
/// The volumes and filesystems that each machine of a set asks for.
pub const TEMPLATE_STORAGE_MAX: u64 = 64;
/// Taints of one machine.
pub const TAINTS_MAX: usize = 64;
/// Amounts in the node template of a class.
pub const CAPACITIES_MAX: usize = 64;
/// Conditions that are watched.
pub const CONDITIONS_MAX: usize = 32;
/// Zones, or spaces, that a machine may be in.
pub const ZONES_MAX: usize = 64;
/// The longest name of a zone, in bytes.
pub const ZONE_BYTES_MAX: usize = 255;
/// Machines of one set that have a priority of their own.
pub const PRIORITIES_MAX: usize = 10_000;
/// Machines that units of one application stand on.
pub const UNITS_MAX: usize = 400;
/// Endpoints of one application that are bound to spaces.
pub const BINDINGS_MAX: usize = 64;
