package company

// FoldVersion names what the events of a ledger fold to. It grows with every
// change after which a stored ledger folds to another state than before, be it
// only by one more field; a snapshot of another version is then no longer
// believed. The golden ledgers (testdata, docs/decisions/0030) tell when.
const FoldVersion = 1
