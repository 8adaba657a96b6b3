//! The few colours that are used, and what they mean. Nothing is said by colour alone.

use anstyle::{AnsiColor, Style};

/// As it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// On its way, or in need of a look.
pub const BUSY: Style = AnsiColor::Yellow.on_default();
/// Failed.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// Of lesser interest.
pub const FAINT: Style = Style::new().dimmed();
/// Headings.
pub const HEADING: Style = Style::new().bold();
/// Nothing special.
pub const PLAIN: Style = Style::new();
