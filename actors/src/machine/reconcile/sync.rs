//! What of the machine's template has to be written to its node.

use super::{
    Answered, Reason, Retry, Step,
    decide::{Flow, Turn},
};
use crate::machine::rules::template::{self, LastWritten, NodeTemplate, NodeWrite};

impl Turn<'_> {
    pub(super) fn sync(&mut self) -> Flow {
        let Some(node) = self.seen().node else {
            return Flow::Through(Retry::Long, Reason::NoNode);
        };
        let last = match &node.last_written {
            LastWritten::Unreadable => return Flow::Ends(Retry::Short, Reason::RecordUnreadable),
            LastWritten::Nothing => NodeTemplate::default(),
            LastWritten::Known(last) => last.clone(),
        };
        let wanted = &self.state.record.template;
        let (labels_differ, labels) = template::map(&wanted.labels, &last.labels, &node.labels);
        let (annotations_differ, mut annotations) =
            template::map(&wanted.annotations, &last.annotations, &node.annotations);
        let (taints_differ, taints) = template::taints(&wanted.taints, &last.taints, &node.taints);
        // A node without any annotation was never written.
        let is_blank = node.annotations.is_empty() && node.last_written == LastWritten::Nothing;
        if !labels_differ && !annotations_differ && !taints_differ && !is_blank {
            return Flow::Through(Retry::Long, Reason::AllWell);
        }
        annotations.remove(template::RECORD);
        let record = wanted.clone();
        self.owe(Step::WriteNode(NodeWrite { node: node.name, labels, annotations, taints, record }))
    }

    pub(super) fn on_node_written(answer: Answered) -> Flow {
        match answer {
            Answered::Ok => Flow::Ends(Retry::Short, Reason::NodeWritten),
            Answered::Gone | Answered::Failed => Flow::Ends(Retry::Short, Reason::NodeNotWritten),
        }
    }
}
