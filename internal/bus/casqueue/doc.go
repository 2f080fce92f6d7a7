// Package casqueue is the work queue of the drivers that keep records under
// compare-and-set. Every item is one subject of the store that holds one record:
// the item and its state. Each move of an item (leased, extended, done, dead)
// is a compare-and-set on that record, and a lease's fence is the sequence of
// the record that made it.
//
// This is not a JetStream consumer, whose delivery state is written behind
// (a kill -9 would give the same fence twice) and where a late ack by an old
// holder acks the new holder's delivery. Here both are settled by the same
// synced compare-and-set that the ledger stands on.
//
// One process holds the store, so the view of all items that are not done is
// complete: loaded at start, then moved along with each record written. Of items
// that are done the store alone knows, until it forgets them. The package does
// not know where records are kept.
package casqueue
