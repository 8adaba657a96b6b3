//! Windows, as a manifest writes them.

use bailiwick_actors::vocab::{Day, Window, Windows};

use super::written_period;

/// `[{days: [sat, sun], from: "22:00", for: 4h}]`; `always` if there are none.
pub fn windows_told(windows: &Windows) -> String {
    if windows.0.is_empty() {
        return "always".to_owned();
    }
    let told: Vec<String> = windows.0.iter().map(window).collect();
    format!("[{}]", told.join(", "))
}

fn window(window: &Window) -> String {
    let days: Vec<&str> = window.days.iter().map(|day| day.as_str()).collect();
    let days = if days.len() == Day::ALL.len() { String::new() } else { format!("days: [{}], ", days.join(", ")) };
    let (hour, minute) = (window.from_minute / 60, window.from_minute % 60);
    format!("{{{days}from: \"{hour:02}:{minute:02}\", for: {}}}", written_period(window.for_ms))
}
