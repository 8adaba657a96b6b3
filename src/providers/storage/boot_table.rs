//! The boot table (`/etc/fstab`): what is mounted again when the machine starts.

use uuid::Uuid;

use super::{AbsPath, sight::unescape};

/// The table without the lines for this mount point; none if there is none.
pub fn without(table: &[u8], mount_point: &AbsPath) -> Option<Vec<u8>> {
    let is_for_it = |line: &[u8]| {
        let line = String::from_utf8_lossy(line).into_owned();
        let mut fields = line.split_ascii_whitespace();
        let is_comment = fields.next().is_none_or(|first| first.starts_with('#'));
        !is_comment && fields.next().is_some_and(|path| unescape(path) == mount_point.as_str())
    };
    let lines: Vec<&[u8]> = table.split_inclusive(|byte| *byte == b'\n').collect();
    let kept: Vec<&[u8]> = lines.iter().copied().filter(|line| !is_for_it(line)).collect();
    (kept.len() < lines.len()).then(|| kept.concat())
}

/// The table with a line for a filesystem on a device.
///
/// The device is named by the filesystem's own id: its name may be another device's after the next start. `nofail`: the
/// machine starts without it.
pub fn with(table: &[u8], uuid: Uuid, mount_point: &AbsPath, read_only: bool) -> Vec<u8> {
    let mut table = without(table, mount_point).unwrap_or_else(|| table.to_vec());
    if table.last().is_some_and(|byte| *byte != b'\n') {
        table.push(b'\n');
    }
    let options = if read_only { "ro,nofail" } else { "rw,nofail" };
    table.extend(format!("UUID={uuid} {} ext4 {options} 0 0\n", escape(mount_point.as_str())).bytes());
    table
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\134").replace(' ', "\\040").replace('#', "\\043")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> AbsPath {
        text.parse().unwrap()
    }

    #[test]
    fn only_the_lines_for_the_mount_point_go() {
        let table = b"# /dev/sda1 /srv ext4\n/dev/sda1 /srv ext4 defaults 0 0\n\xff /srv2 x\nUUID=1 /a\\040b ext4 x 0 0\nlast /x";
        let left = without(table, &path("/srv")).unwrap();
        assert_eq!(left, b"# /dev/sda1 /srv ext4\n\xff /srv2 x\nUUID=1 /a\\040b ext4 x 0 0\nlast /x");
        assert_eq!(without(&left, &path("/srv")), None);
        assert!(without(&left, &path("/a b")).is_some());
    }

    #[test]
    fn a_line_is_written_once_and_found_again() {
        let (uuid, place) = (Uuid::from_u128(1), path("/a b#c\\d"));
        let table = with(b"one", uuid, &place, false);
        let again = with(&table, uuid, &place, true);
        assert_eq!(again.iter().filter(|byte| **byte == b'\n').count(), 2);
        assert!(String::from_utf8(again.clone()).unwrap().ends_with(" ext4 ro,nofail 0 0\n"));
        assert_eq!(without(&again, &place).unwrap(), b"one\n");
    }
}
