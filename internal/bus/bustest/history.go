package bustest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"company/internal/bus"
)

// A history is what several clients asked at once, and when they had which answer.
// Porcupine looks for an order in which one client alone would have had the same
// answers.

// logCall is what a client asked of a Log.
type logCall struct {
	op     string // append, last, read or purge
	expect uint64
	id     string
}

// logReply is the answer.
type logReply struct {
	conflict bool
	seq      uint64 // of append and last; 0: there is none
	id       string // of last
	seqs     []uint64
}

// logState is a subject.
type logState struct {
	seqs []uint64
	ids  []string
	high uint64 // sequence that was given
}

func (s logState) lastSeq() uint64 {
	if len(s.seqs) == 0 {
		return 0
	}
	return s.seqs[len(s.seqs)-1]
}

// logModel says what one subject answers.
var logModel = porcupine.Model{
	Init: func() any { return logState{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(logState), input.(logCall), output.(logReply)
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

// queueCall is what a client asked of a Queue about an item. What it leased is
// known by the reply alone, and is filled in then.
type queueCall struct {
	op    string // put, lease, extend, ack, nack or bury
	id    string
	fence uint64
}

// queueReply is the answer.
type queueReply struct {
	lost       bool
	deliveries int
}

// itemState is one item.
type itemState struct {
	state      string // "": never put; waiting, leased, done, dead
	fence      uint64
	deliveries int
}

// itemModel says what one item answers. Where leases expire at any moment, a lease
// that is held may be given to another, and its holder hear so before.
func itemModel(expires bool) porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byID := map[string][]porcupine.Operation{}
			var ids []string
			for _, op := range history {
				id := op.Input.(queueCall).id
				if byID[id] == nil {
					ids = append(ids, id)
				}
				byID[id] = append(byID[id], op)
			}
			parts := make([][]porcupine.Operation, len(ids))
			for i, id := range ids {
				parts[i] = byID[id]
			}
			return parts
		},
		Init: func() any { return itemState{} },
		Step: func(state, input, output any) (bool, any) {
			s, in, out := state.(itemState), input.(queueCall), output.(queueReply)
			switch in.op {
			case "put":
				if s.state == "" {
					s.state = "waiting"
				}
				return true, s
			case "lease":
				free := s.state == "waiting" || expires && s.state == "leased"
				return free && in.fence > s.fence && out.deliveries == s.deliveries+1, itemState{"leased", in.fence, out.deliveries}
			}
			holds := s.state == "leased" && s.fence == in.fence
			if out.lost {
				return !holds || expires, s
			}
			if to := map[string]string{"ack": "done", "nack": "waiting", "bury": "dead"}[in.op]; to != "" {
				s.state = to
			}
			return holds, s
		},
		DescribeOperation: describeCall,
	}
}

// recorder collects a history.
type recorder struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

// recordCall asks, and notes the call with its answer. ask returns false where the
// store gave no answer.
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

// logHistory: all answers that several writers and readers of one subject get could
// have been given to one that asked alone.
func logHistory(t *testing.T, s *store) {
	for seed := range uint64(4) {
		subject := fmt.Sprint("run.history.", seed)
		purges := seed%2 == 1 // a repeat after a purge, and a read beside one, promise less
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

// askLog is one client of a logHistory.
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
		var m bus.Message
		m, err = s.Log().Last(s.ctx, subject)
		if errors.Is(err, bus.ErrNotFound) {
			return logReply{}, nil
		}
		out.seq, out.id = m.Seq, m.ID
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

// queueHistory: all answers that the holders of items get could have been given to one
// that asked alone, with leases that last and with leases that expire.
func queueHistory(t *testing.T, s *store) {
	for seed := range uint64(4) {
		ttl := long
		if seed%2 == 1 {
			ttl = 5 * time.Millisecond
		}
		_, before, err := s.Queue().Depth(s.ctx)
		mustSucceed(t, err)
		r := &recorder{began: time.Now()}
		var wg sync.WaitGroup
		for client := range historyClients {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			wg.Go(func() { askQueue(t, s, r, client, ttl, rng, fmt.Sprint("history ", seed, "/")) })
		}
		wg.Wait()
		r.requireOrder(t, itemModel(ttl != long))
		requireFencesInTime(t, r.ops)
		for { // none of this round's items comes in the next one
			waiting, leased, err := s.Queue().Depth(s.ctx)
			mustSucceed(t, err)
			if waiting == 0 && (ttl == long || leased == before) {
				break
			}
			l, err := s.Queue().Lease(s.ctx, long)
			mustSucceed(t, err)
			mustSucceed(t, l.Ack(s.ctx))
		}
	}
}

// askQueue is one client of a queueHistory.
func askQueue(t *testing.T, s *store, r *recorder, client int, ttl time.Duration, rng *rand.Rand, prefix string) {
	var held []bus.Lease
	for range historySteps {
		k := rng.IntN(10)
		if k < 3 {
			id := prefix + fmt.Sprint(rng.IntN(6))
			r.recordCall(client, func() (any, any, bool) {
				err := s.Queue().Put(s.ctx, bus.Item{ID: id})
				if err != nil {
					t.Errorf("put: %v", err)
				}
				return queueCall{op: "put", id: id}, queueReply{}, err == nil
			})
			continue
		}
		if k < 6 || len(held) == 0 {
			r.recordCall(client, func() (any, any, bool) {
				ctx, cancel := context.WithTimeout(s.ctx, 20*time.Millisecond)
				defer cancel()
				l, err := s.Queue().Lease(ctx, ttl)
				if err != nil {
					if !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("lease: %v", err)
					}
					return nil, nil, false
				}
				if !strings.HasPrefix(l.Item().ID, prefix) { // of a round before: its lease has expired since
					return nil, nil, false
				}
				held = append(held, l)
				return queueCall{"lease", l.Item().ID, l.Fence()}, queueReply{deliveries: l.Deliveries()}, true
			})
			continue
		}
		l := held[rng.IntN(len(held))] // also one that was given away
		op := []string{"extend", "ack", "nack", "bury"}[rng.IntN(4)]
		r.recordCall(client, func() (any, any, bool) {
			var err error
			switch op {
			case "extend":
				err = l.Extend(s.ctx)
			case "ack":
				err = l.Ack(s.ctx)
			case "nack":
				err = l.Nack(s.ctx, 0)
			case "bury":
				err = l.Bury(s.ctx)
			}
			lost := errors.Is(err, bus.ErrLeaseLost)
			if err != nil && !lost {
				t.Errorf("%s: %v", op, err)
			}
			return queueCall{op, l.Item().ID, l.Fence()}, queueReply{lost: lost}, err == nil || lost
		})
	}
}

// requireFencesInTime: a lease that was given before another one was asked for has
// the lower fence, of whatever items they are.
func requireFencesInTime(t *testing.T, ops []porcupine.Operation) {
	t.Helper()
	leases := slices.DeleteFunc(slices.Clone(ops), func(op porcupine.Operation) bool { return op.Input.(queueCall).op != "lease" })
	for _, a := range leases {
		for _, b := range leases {
			if x, y := a.Input.(queueCall), b.Input.(queueCall); a.Return < b.Call && x.fence >= y.fence {
				t.Fatalf("%+v came before %+v", x, y)
			}
		}
	}
}
