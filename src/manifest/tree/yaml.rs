//! YAML. The parser's events are taken one by one: there is no recursion over the input. A document that is broken is answered
//! and skipped, and reading goes on with the next one.

use std::rc::Rc;

use serde_saphyr::granit_parser::{ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, StrInput, Tag};

use super::{super::limits, Building, Code, Flaw, Growing, Spot, Tree, flaw, text_node, too_deep};
use crate::text::cut;

/// Takes the documents of a text one after the other.
pub(in crate::manifest) struct Documents<'a> {
    parser: Parser<'a, StrInput<'a>>,
    repeated_bytes: usize,
    over: bool,
}

impl<'a> Documents<'a> {
    pub(in crate::manifest) fn of(text: &'a str) -> Self {
        let mut options = Options::default();
        options.set_emit_comments(false);
        Self { parser: Parser::new_from_str_with_options(text, options), repeated_bytes: 0, over: false }
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Tree, Flaw>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let answer = self.document();
        // The rest of a broken document is skipped. Where a bound was met, or skipping fails, so is the rest of the file.
        if let Some(Err(flaw)) = &answer {
            let beyond_bounds = matches!(flaw.code, Code::TooDeep | Code::TooMany | Code::TooLarge);
            self.over = beyond_bounds || !matches!(self.parser.proceed_next_document(), Ok(true));
        }
        answer
    }
}

impl Documents<'_> {
    fn document(&mut self) -> Option<Result<Tree, Flaw>> {
        let mut building = Building::default();
        loop {
            let (event, span) = match self.parser.next_event()? {
                Ok(event) => event,
                Err(error) => return Some(Err(scan_flaw(&error))),
            };
            let at = spot(&span.start);
            let step = match event {
                Event::StreamEnd => return None,
                Event::DocumentEnd => {
                    let flaws = std::mem::take(&mut building.flaws);
                    let root = building.root.take().unwrap_or_else(|| Rc::new(text_node(at, "".into(), true)));
                    return Some(Ok(Tree { root, flaws }));
                }
                Event::Scalar(text, style, anchor, tag) => {
                    building.scalar(at, text.into_owned().into(), style, anchor, tag.as_deref())
                }
                Event::SequenceStart(_, anchor, tag) => {
                    building.open_as(at, anchor, tag.as_deref(), Growing::List(Vec::new()))
                }
                Event::MappingStart(_, anchor, tag) => {
                    building.open_as(at, anchor, tag.as_deref(), Growing::Mapping { entries: Vec::new(), key: None })
                }
                Event::SequenceEnd | Event::MappingEnd => building.close(),
                Event::Alias(anchor) => building.alias(at, anchor, &mut self.repeated_bytes),
                _ => Ok(()),
            };
            if let Err(flaw) = step {
                return Some(Err(flaw));
            }
        }
    }
}

impl Building {
    fn scalar(
        &mut self,
        at: Spot,
        text: Rc<str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Result<(), Flaw> {
        let plain = style == ScalarStyle::Plain && !means_text(at, tag)?;
        self.finished(anchor, Rc::new(text_node(at, text, plain)))
    }

    fn open_as(&mut self, at: Spot, anchor: usize, tag: Option<&Tag>, content: Growing) -> Result<(), Flaw> {
        means_text(at, tag)?;
        self.open(at, anchor, content)
    }

    fn alias(&mut self, at: Spot, anchor: usize, repeated_bytes: &mut usize) -> Result<(), Flaw> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            return Err(flaw(at, Code::BadYaml, "the alias refers to a value that contains it"));
        };
        if self.open.len() + node.depth > limits::DEPTH_MAX {
            return Err(too_deep(at));
        }
        *repeated_bytes = repeated_bytes.saturating_add(node.weight);
        if *repeated_bytes > limits::REPEATED_BYTES_MAX {
            return Err(flaw(at, Code::TooLarge, "aliases expand to more than 1 MiB"));
        }
        self.finished(0, node)
    }
}

/// Whether the tag declares a plain scalar to be a string. Other tags are refused.
fn means_text(at: Spot, tag: Option<&Tag>) -> Result<bool, Flaw> {
    let Some(tag) = tag else { return Ok(false) };
    match tag.core_suffix() {
        Some("str") => Ok(true),
        Some(_) => Ok(false),
        None if tag.original() == "!" => Ok(true),
        None => Err(flaw(at, Code::BadYaml, format!("tags such as {} are not supported", cut(&tag.original(), 60)))),
    }
}

fn spot(marker: &Marker) -> Spot {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Spot { line: number(marker.line()).max(1), column: number(marker.col()).saturating_add(1) }
}

fn scan_flaw(error: &ScanError) -> Flaw {
    let at = spot(error.marker());
    match error.kind() {
        // The scanner reads ahead, so its own bound may be met before ours.
        ErrorKind::RecursionLimitExceeded => too_deep(at),
        _ => flaw(at, Code::BadYaml, error.info()),
    }
}
