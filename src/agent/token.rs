//! What an agent proves itself with.

use bailiwick_actors::vocab::EffectId;

/// The bearer token of the agent of the machine made under `effect`, as lower-case hex.
///
/// It follows from the node's key, so the node stores no tokens and knows them all after a restart.
pub fn agent_token(node_key: &[u8; 32], effect: EffectId) -> String {
    hash(node_key, effect).to_hex().to_string()
}

/// Whether a presented token is the one of this machine's agent. Takes the same time for every wrong token.
pub fn is_agent_token(node_key: &[u8; 32], effect: EffectId, presented: &str) -> bool {
    blake3::Hash::from_hex(presented).is_ok_and(|presented| presented == hash(node_key, effect))
}

fn hash(node_key: &[u8; 32], effect: EffectId) -> blake3::Hash {
    blake3::keyed_hash(node_key, effect.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_only_its_own_machine() {
        let (web, db): (EffectId, EffectId) = (
            "00000000-0000-0000-0000-000000000001".parse().unwrap(),
            "00000000-0000-0000-0000-000000000002".parse().unwrap(),
        );
        let token = agent_token(&[7; 32], web);
        assert!(is_agent_token(&[7; 32], web, &token));
        for (key, effect, presented) in [
            ([7; 32], db, &*token),
            ([8; 32], web, &token),
            ([7; 32], web, ""),
            ([7; 32], web, "zz"),
            ([7; 32], web, &token[1..]),
        ] {
            assert!(!is_agent_token(&key, effect, presented));
        }
    }
}
