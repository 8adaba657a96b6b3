//! stub
pub mod why {
    use bailiwick_journal::*;
    pub fn why(_j: &dyn Journal, _e: &StreamId, _p: Position) -> Result<Option<serde_json::Value>, ReadError> {
        Ok(None)
    }
}
