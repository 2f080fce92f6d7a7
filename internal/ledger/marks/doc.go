// Package marks records at which record earlier processes of an office died.
//
// A process notes in a file which record it reads or acts on. Such a note is a mark. The file is not
// synced, since the kernel keeps the writes of a process that dies. A mark is removed when the process
// has passed the record, and while the process waits for an external operation. So a mark that the
// next process finds names a record at which the process died. The cause may be a fatal error of Go,
// which recover cannot stop, a kill by the kernel for lack of memory, or a kill -9 at that moment.
//
// The mark of an effect remains during waits of minutes, in which a process may be killed for any
// reason. It counts as a death only if Go itself ended the process or if the kernel killed it for lack
// of memory. Go writes the reason and the stacks into a file; the kernel's counters show its kills.
//
// A place is set aside if Limit processes died at it and none has passed it since: see Book.SetAside.
// The owner of the record decides what follows from that.
//
// Marks are hints for people, not a source of truth. Without the files, or if they cannot be written,
// an office works as if no process had ever died.
package marks

import "fmt"

// Limit is the number of deaths at one place that sets it aside.
const Limit = 2

// Ledger is the owner of the places that belong to no run.
const Ledger = "ledger"

// Values of Place.Doing. Each reader of a record has its own value, because one reader that passes the record
// does not prove that the others will.
const (
	LookBack  = "counting the spending in record"     // N
	Resume    = "resuming the conversation at record" // N
	ReadCalls = "reading earlier calls in record"     // N
	Settle    = "settling the run at record"          // N
	Reply     = "handling reply"                      // N
	Call      = "making call"                         // Part of reply N
	Repeat    = "repeating call"                      // Part of reply N
	Event     = "reading event"                       // N
	Snapshot  = "reading the snapshot"
	Effect    = "carrying it out" // a whole effect, including its waits
)

// Place identifies a record and the operation on it.
type Place struct {
	Owner string `json:"owner"`          // a run, the key of an effect, or Ledger
	Task  string `json:"task,omitempty"` // of an effect
	Doing string `json:"doing"`
	N     int    `json:"n,omitempty"`
	Part  int    `json:"part,omitempty"`
}

// String describes the place for people, without its owner.
func (p Place) String() string {
	switch {
	case p.Part > 0:
		return fmt.Sprintf("%s %d of reply %d", p.Doing, p.Part, p.N)
	case p.N > 0:
		return fmt.Sprintf("%s %d", p.Doing, p.N)
	}
	return p.Doing
}

// Death counts the processes that died at a place since a process last passed it.
type Death struct {
	Place
	Count int `json:"count"`
	// Shown is true if the president has seen the place. The president then decides about the next attempt.
	Shown bool `json:"shown,omitempty"`
}
