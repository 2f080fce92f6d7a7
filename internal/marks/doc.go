// Package marks knows at which record earlier processes of an office died.
//
// A process writes into a file what it is busy with: which record it reads, or acts on. This is a mark.
// The file is not synced, since a process that dies leaves its writes to the kernel. A mark is removed once
// the record is behind the process, or while the process waits for something outside of itself. So a mark that
// the next process finds names a record at which the process died: by a fatal error of Go, which no
// recover stops, by the kernel for want of memory, or by a person's kill -9 in that moment.
//
// The mark of an effect stands through waits of minutes, in which a process may be killed for any reason. It
// names a death only where Go itself ended the process, which writes the reason and the stacks into a file, or
// where the kernel killed it for want of memory, which its counters tell.
//
// A place at which Limit processes died, and which none has passed since, is set aside: see
// Book.SetAside. What that means is up to the owner of the record.
//
// Marks help people and are no truth. Without the files, or where they cannot be written, an office works as
// if nothing had ever died.
package marks

import "fmt"

// Limit is how many deaths at one place set it aside.
const Limit = 2

// Ledger owns the places that belong to no run.
const Ledger = "ledger"

// What a process may be busy with. Each reader of a record has a name of its own: that one of them passes the
// record says nothing of the others.
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
	Effect    = "carrying it out" // the whole of an effect, with its waits
)

// Place is a record and what is done with it.
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

// Death is a place at which processes died, and which none has passed since.
type Death struct {
	Place
	Count int `json:"count"`
	// Shown says that the president has seen it. The next attempt is his decision.
	Shown bool `json:"shown,omitempty"`
}
