package bustest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"company/internal/bus"
)

// A history holds the concurrent calls of several clients, with their replies and times.
// Porcupine checks linearizability: it searches an order in which a single client would
// have received the same replies.

// logCall is a call of a client to a Log.
type logCall struct {
	op     string // append, last, read or purge
	expect uint64
	id     string
}

// logReply is the reply to a logCall.
type logReply struct {
	conflict bool
	seq      uint64 // for append and last; 0 if there is no record
	id       string // for last
	seqs     []uint64
}

// logState is the state of a subject.
type logState struct {
	seqs []uint64
	ids  []string
	high uint64 // highest sequence that was assigned
}

func (s logState) lastSeq() uint64 {
	if len(s.seqs) == 0 {
		return 0
	}
	return s.seqs[len(s.seqs)-1]
}

// logModel models the replies of one subject.
var logModel = porcupine.Model{
	Init: func() any { return logState{} },
	Step: func(state, input, output any) (bool, any) {
		s := state.(logState)
		in := input.(logCall)
		out := output.(logReply)
		switch in.op {
		case "append":
			at := slices.Index(s.ids, in.id)
			switch {
			case out.conflict:
				return at < 0 && s.lastSeq() != in.expect, s
			case at >= 0: // a repeat
				return s.seqs[at] == out.seq, s
			}
			next := logState{seqs: append(slices.Clip(s.seqs), out.seq), ids: append(slices.Clip(s.ids), in.id), high: out.seq}
			return s.lastSeq() == in.expect && out.seq > s.high, next
		case "last":
			return out.seq == s.lastSeq() && (out.seq == 0 || out.id == s.ids[len(s.ids)-1]), s
		case "read":
			return slices.Equal(out.seqs, s.seqs), s
		}
		return true, logState{high: s.high}
	},
	Equal: func(a, b any) bool {
		x, y := a.(logState), b.(logState)
		return x.high == y.high && slices.Equal(x.seqs, y.seqs) && slices.Equal(x.ids, y.ids)
	},
	DescribeOperation: describeCall,
}

func describeCall(input, output any) string { return fmt.Sprintf("%+v: %+v", input, output) }

// queueCall is a call of a client to a Queue about an item. For a lease, the item is known only from
// the reply and is filled in then.
type queueCall struct {
	op    string // put, lease, extend, ack or nack
	id    string
	lease int // number of the lease that is granted or used
}

// queueReply is the reply to a queueCall.
type queueReply struct{ lost bool }

// itemState is the state of one item.
type itemState struct {
	queued bool
	holder int // number of the lease that holds it; 0 if it waits
}

// itemModel models the replies about one item.
var itemModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byID := map[string][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(queueCall).id
			byID[id] = append(byID[id], op)
		}
		return slices.Collect(maps.Values(byID))
	},
	Init: func() any { return itemState{} },
	Step: func(state, input, output any) (bool, any) {
		s := state.(itemState)
		in := input.(queueCall)
		switch in.op {
		case "put":
			s.queued = true
			return true, s
		case "lease":
			return s.queued && s.holder == 0, itemState{true, in.lease}
		}
		holds := s.holder == in.lease
		if output.(queueReply).lost {
			return !holds, s
		}
		switch in.op {
		case "ack":
			s = itemState{}
		case "nack":
			s.holder = 0
		}
		return holds, s
	},
	DescribeOperation: describeCall,
}

// recorder collects a history.
type recorder struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

// recordCall runs ask and records the call with its reply. If ask returns false, the store gave no
// answer and the call is not recorded.
func (r *recorder) recordCall(client int, ask func() (input, output any, ok bool)) {
	call := int64(time.Since(r.began))
	in, out, ok := ask()
	end := int64(time.Since(r.began))
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
}

func (r *recorder) requireOrder(t *testing.T, m porcupine.Model) {
	t.Helper()
	switch porcupine.CheckOperationsTimeout(m, r.ops, Patience/2) {
	case porcupine.Illegal:
		for _, op := range r.ops {
			t.Logf("%d: %d to %d: %s", op.ClientId, op.Call, op.Return, m.DescribeOperation(op.Input, op.Output))
		}
		t.Fatalf("no order explains these %d answers", len(r.ops))
	case porcupine.Unknown:
		t.Fatalf("no order of %d answers was found in time", len(r.ops))
	}
}

const (
	historyClients = 4
	historySteps   = 30
)

// logHistory checks that all replies to concurrent writers and readers of one subject could have been
// given to a single client.
func logHistory(t *testing.T, s *store) {
	for seed := range uint64(4) {
		subject := fmt.Sprint("run.history.", seed)
		purges := seed%2 == 1 // the contract is weaker for repeats after a purge and for reads during one
		r := &recorder{began: time.Now()}
		var wg sync.WaitGroup
		for client := range historyClients {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			wg.Go(func() { askLog(t, s, r, client, subject, rng, purges) })
		}
		wg.Wait()
		r.requireOrder(t, logModel)
	}
}

// askLog runs one client of logHistory.
func askLog(t *testing.T, s *store, r *recorder, client int, subject string, rng *rand.Rand, purges bool) {
	var seen uint64
	var sent []logCall
	for n := range historySteps {
		in := logCall{op: "append", expect: seen, id: fmt.Sprintf("%d/%d", client, n)}
		switch k := rng.IntN(10); {
		case k == 0 && purges:
			in = logCall{op: "purge"}
		case k == 1 && !purges:
			in = logCall{op: "read"}
		case k < 5:
			in = logCall{op: "last"}
		case k == 5 && !purges && len(sent) > 0:
			in = sent[rng.IntN(len(sent))]
		}
		r.recordCall(client, func() (any, any, bool) {
			out, err := askLogOnce(s, subject, in)
			if err != nil {
				t.Errorf("%+v: %v", in, err)
				return nil, nil, false
			}
			if in.op == "last" || in.op == "append" && !out.conflict {
				seen = out.seq
			}
			return in, out, true
		})
		if in.op == "append" {
			sent = append(sent, in)
		}
	}
}

func askLogOnce(s *store, subject string, in logCall) (out logReply, err error) {
	switch in.op {
	case "append":
		out.seq, err = s.Log().Append(s.ctx, subject, []byte(in.id), in.expect, in.id)
		if errors.Is(err, bus.ErrConflict) {
			return logReply{conflict: true}, nil
		}
	case "last":
		var message bus.Message
		message, err = s.Log().Last(s.ctx, subject)
		if errors.Is(err, bus.ErrNotFound) {
			return logReply{}, nil
		}
		out.seq, out.id = message.Seq, message.ID
	case "read":
		err = s.Log().Read(s.ctx, subject, 0, func(m bus.Message) error {
			out.seqs = append(out.seqs, m.Seq)
			return nil
		})
	case "purge":
		err = s.Log().Purge(s.ctx, subject)
	}
	return out, err
}

// queueHistory checks that all replies to concurrent holders of items could have been given to a
// single client.
func queueHistory(t *testing.T, s *store) {
	for seed := range uint64(4) {
		r := &recorder{began: time.Now()}
		var leases atomic.Int64
		var wg sync.WaitGroup
		for client := range historyClients {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			wg.Go(func() { askQueue(t, s, r, client, &leases, rng) })
		}
		wg.Wait()
		r.requireOrder(t, itemModel)
		s.reopenStore(t)
		s.drainQueue(t)
	}
}

// drainQueue acknowledges all items that wait, and returns their ids.
func (s *store) drainQueue(t *testing.T) (ids []string) {
	t.Helper()
	waiting, _, err := s.Queue().Depth(s.ctx)
	mustSucceed(t, err)
	for range waiting {
		lease, err := s.Queue().Lease(s.ctx)
		mustSucceed(t, err)
		mustSucceed(t, lease.Ack(s.ctx))
		ids = append(ids, lease.Item().ID)
	}
	s.requireDepth(t, 0, 0)
	return ids
}

// askQueue runs one client of queueHistory.
func askQueue(t *testing.T, s *store, r *recorder, client int, leases *atomic.Int64, rng *rand.Rand) {
	type held struct {
		bus.Lease
		number int
	}
	var all []held
	for range historySteps {
		k := rng.IntN(10)
		if k < 3 {
			id := fmt.Sprint("item ", rng.IntN(6))
			r.recordCall(client, func() (any, any, bool) {
				err := s.Queue().Put(s.ctx, bus.Item{ID: id})
				if err != nil {
					t.Errorf("put: %v", err)
				}
				return queueCall{op: "put", id: id}, queueReply{}, err == nil
			})
			continue
		}
		if k < 6 || len(all) == 0 {
			r.recordCall(client, func() (any, any, bool) {
				ctx, cancel := context.WithTimeout(s.ctx, 20*time.Millisecond)
				defer cancel()
				lease, err := s.Queue().Lease(ctx)
				if err != nil {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("lease: %v", err)
					}
					return nil, nil, false
				}
				number := int(leases.Add(1))
				all = append(all, held{lease, number})
				return queueCall{"lease", lease.Item().ID, number}, queueReply{}, true
			})
			continue
		}
		l := all[rng.IntN(len(all))] // may be settled
		op := []string{"extend", "ack", "nack"}[rng.IntN(3)]
		r.recordCall(client, func() (any, any, bool) {
			var err error
			switch op {
			case "extend":
				err = l.Extend(s.ctx)
			case "ack":
				err = l.Ack(s.ctx)
			case "nack":
				err = l.Nack(s.ctx, 0)
			}
			lost := errors.Is(err, bus.ErrLeaseLost)
			if err != nil && !lost {
				t.Errorf("%s: %v", op, err)
			}
			return queueCall{op, l.Item().ID, l.number}, queueReply{lost: lost}, err == nil || lost
		})
	}
}
