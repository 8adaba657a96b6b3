mod spec;
pub use spec::*;
