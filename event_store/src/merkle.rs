//! Merkle trees of BLAKE3 hashes, in the shape of RFC 6962: the left half of a tree of n leaves is the largest power
//! of two below n. Leaves and nodes are hashed under different keys, so that neither can stand for the other.

/// A hash.
pub type Hash = [u8; 32];

/// Domain separation, see BLAKE3's key derivation. Part of every checkpoint: never to be changed.
const NODE: &str = "quipu 2026-11-30 merkle node";
/// The root of a tree without leaves.
const EMPTY: &str = "quipu 2026-11-30 merkle empty";

/// The hash of a leaf that says `parts`, each preceded by its length in eight bytes, little-endian.
pub fn leaf(context: &str, parts: &[&[u8]]) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

fn node(left: &Hash, right: &Hash) -> Hash {
    *blake3::Hasher::new_derive_key(NODE).update(left).update(right).finalize().as_bytes()
}

/// The root over leaves.
pub fn root(leaves: impl IntoIterator<Item = Hash>) -> Hash {
    // Whole subtrees from left to right, each smaller than the one before it.
    let mut whole: Vec<(u32, Hash)> = vec![];
    for leaf in leaves {
        let (mut height, mut hash) = (0, leaf);
        while let Some((_, left)) = whole.pop_if(|(of, _)| *of == height) {
            (height, hash) = (height + 1, node(&left, &hash));
        }
        whole.push((height, hash));
    }
    let root = whole.into_iter().rev().map(|(_, hash)| hash).reduce(|right, left| node(&left, &right));
    root.unwrap_or_else(|| leaf(EMPTY, &[]))
}

/// On which side of the hash so far a sibling stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before it.
    Left,
    /// After it.
    Right,
}

/// The siblings from a leaf up to the root: what proves that the leaf is in the tree. None where there is no such
/// leaf.
pub fn path(leaves: &[Hash], index: usize) -> Option<Vec<(Side, Hash)>> {
    if index >= leaves.len() {
        return None;
    }
    let (mut part, mut index, mut path) = (leaves, index, vec![]);
    while part.len() > 1 {
        let half = part.len().next_power_of_two() / 2;
        let (left, right) = part.split_at(half);
        if index < half {
            path.push((Side::Right, root(right.iter().copied())));
            part = left;
        } else {
            path.push((Side::Left, root(left.iter().copied())));
            (part, index) = (right, index - half);
        }
    }
    path.reverse();
    Some(path)
}

/// The root of the tree in which this leaf has this path.
pub fn root_of(leaf: Hash, path: &[(Side, Hash)]) -> Hash {
    path.iter().fold(leaf, |hash, (side, sibling)| match side {
        Side::Left => node(sibling, &hash),
        Side::Right => node(&hash, sibling),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    fn leaves(count: u64) -> Vec<Hash> {
        (0..count).map(|n| leaf("test", &[&n.to_le_bytes()])).collect()
    }

    /// Computed with another BLAKE3 (Python's `blake3`) from this file's header.
    #[test]
    fn golden_roots() {
        let roots = [0, 1, 2, 3, 5, 8].map(|count| hex::encode(&root(leaves(count))));
        assert_eq!(roots.each_ref().map(|root| &root[..16]), GOLDEN);
    }

    const GOLDEN: [&str; 6] = [
        "86a36f97456acf01",
        "ec573e0e0a415765",
        "5089e4affd5b4997",
        "8db85b21aee97909",
        "4bd1c1c9a4159ec8",
        "b273576f3b82ec95",
    ];

    #[test]
    fn each_leaf_is_proven_by_its_path_and_no_other_leaf_is() {
        for count in 1..=33 {
            let leaves = leaves(count);
            let root = root(leaves.iter().copied());
            for index in 0..leaves.len() {
                let path = path(&leaves, index).unwrap();
                assert_eq!(root_of(leaves[index], &path), root, "{index} of {count}");
                let other = leaf("test", &[b"other"]);
                assert_ne!(root_of(other, &path), root, "{index} of {count}");
            }
            assert_eq!(path(&leaves, leaves.len()), None);
        }
    }

    #[test]
    fn a_node_is_no_leaf_and_order_and_number_count() {
        let [a, b, c]: [Hash; 3] = leaves(3).try_into().unwrap();
        let whole = root([a, b, c]);
        for other in [vec![b, a, c], vec![a, b], vec![a, b, c, c], vec![]] {
            assert_ne!(root(other), whole);
        }
        assert_ne!(leaf(NODE, &[&a, &b]), root([a, b]), "not even one that was hashed under a node's key");
        assert_ne!(leaf("test", &[b"ab", b"c"]), leaf("test", &[b"a", b"bc"]));
        assert_ne!(leaf("test", &[b"a"]), leaf("other", &[b"a"]));
    }
}
