package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"company/internal/company"
)

const (
	markEvery     = 128     // minimum number of events between two marks
	knownCommands = 1 << 16 // newest commands whose repeats are recognised
)

// index finds records of the ledger by event number, through marks at intervals, and by command id,
// through 64 bits of its hash. It also knows where each task begins and ends. It is derived from the
// records and kept in snapshots, so that a start need not read the whole ledger.
type index struct {
	marks    []link            // ends of records, ordered by event number
	commands map[uint64]uint64 // maps the hash of a command's id to its record
	order    []uint64          // keys of commands as a ring buffer; once full, next is the oldest
	next     int
	tasks    map[company.TaskID]span
}

// span holds the numbers of the first and the last event of a task. Others' events lie between them.
type span struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

func newIndex() index {
	return index{commands: map[uint64]uint64{}, tasks: map[company.TaskID]span{}}
}

func (x *index) add(rec record, end link) {
	if last := x.markBefore(end.Seq); end.Seq-last.Seq >= markEvery {
		x.marks = append(x.marks, end)
	}
	for _, c := range rec.listCommands() {
		x.addCommand(commandKey(c.ID), end.Log)
	}
	for _, event := range rec.Events {
		if event.Task != "" {
			x.tasks[event.Task] = span{cmp.Or(x.tasks[event.Task].First, event.Seq), event.Seq}
		}
	}
}

func (x *index) addCommand(key, at uint64) {
	if _, ok := x.commands[key]; !ok {
		if len(x.order) < knownCommands {
			x.order = append(x.order, key)
		} else {
			delete(x.commands, x.order[x.next])
			x.order[x.next] = key
			x.next = (x.next + 1) % knownCommands
		}
	}
	x.commands[key] = at
}

func (x *index) findCommand(command string) (at uint64, ok bool) {
	at, ok = x.commands[commandKey(command)]
	return at, ok
}

// markBefore returns the last mark before an event, or the zero link, which precedes the first event.
func (x *index) markBefore(seq uint64) link {
	at, _ := slices.BinarySearchFunc(x.marks, seq, func(m link, seq uint64) int { return cmp.Compare(m.Seq, seq) })
	if at == 0 {
		return link{}
	}
	return x.marks[at-1]
}

func commandKey(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.BigEndian.Uint64(sum[:])
}

// truncatedAt returns the index as of an earlier head. Commands that later commands have evicted are
// missing. A task may end before its span does.
func (x *index) truncatedAt(at Head) index {
	out := newIndex()
	n := 0
	for n < len(x.marks) && x.marks[n].Log <= at.LogSeq {
		n++
	}
	out.marks = x.marks[:n:n]
	for i := range x.order {
		if key := x.order[(x.next+i)%len(x.order)]; x.commands[key] <= at.LogSeq {
			out.addCommand(key, x.commands[key])
		}
	}
	for id, task := range x.tasks {
		if task.First <= at.Seq {
			out.tasks[id] = span{task.First, min(task.Last, at.Seq)}
		}
	}
	return out
}

// packCommands encodes the commands, oldest first, in 16 bytes each.
func (x *index) packCommands() []byte {
	out := make([]byte, 0, 16*len(x.order))
	for i := range x.order {
		key := x.order[(x.next+i)%len(x.order)]
		out = binary.BigEndian.AppendUint64(out, key)
		out = binary.BigEndian.AppendUint64(out, x.commands[key])
	}
	return out
}

func unpackIndex(h *header) (index, error) {
	x, commands := newIndex(), h.Commands
	x.marks = h.Marks
	maps.Copy(x.tasks, h.Tasks)
	if len(commands)%16 != 0 {
		return x, errors.New("commands are truncated")
	}
	for pair := range slices.Chunk(commands, 16) {
		x.addCommand(binary.BigEndian.Uint64(pair), binary.BigEndian.Uint64(pair[8:]))
	}
	return x, nil
}
