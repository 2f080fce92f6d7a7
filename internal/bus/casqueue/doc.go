// Package casqueue is the work queue of drivers that store records with compare-and-set. Every item is
// a subject of the store with one record: the item and its state. Each state change (leased, extended,
// done, dead) is a compare-and-set on that record. A lease's fence is the sequence of the record that
// created it.
//
// This is not a JetStream consumer. A consumer writes its delivery state asynchronously, so a kill -9
// could assign the same fence twice. A late ack of an old holder would also ack the delivery of the
// new holder. Here the same synced compare-and-set as in the ledger prevents both.
//
// One process owns the store, so its view of all unfinished items is complete: it is loaded at start
// and updated with each written record. Finished items are only in the store, until it drops them. The
// package does not know where records are stored.
package casqueue
