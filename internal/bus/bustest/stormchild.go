package bustest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"company/internal/bus"
)

// stormVariable is the variable with the orders of a storm's child.
const stormVariable = "BUSTEST_STORM"

// stormOrders tells a child of a storm what to do and when to die: delay after the given number of
// operations. If after is 0, the delay starts before the store is opened.
type stormOrders struct {
	seed    uint64
	round   int
	clients int
	after   int
	delay   time.Duration
}

func (o stormOrders) String() string {
	return fmt.Sprint(o.seed, o.round, o.clients, o.after, o.delay.Nanoseconds())
}

func parseStormOrders(text string) (o stormOrders, err error) {
	_, err = fmt.Sscan(text, &o.seed, &o.round, &o.clients, &o.after, &o.delay)
	return o, err
}

// stormLine is the line that a child prints before and after each operation.
type stormLine struct {
	done   bool
	client int
	op     string
	on     string // subject or item
	seq    uint64 // sequence of a stored record
	id     string // id of the record or blob
}

func (l stormLine) String() string {
	return fmt.Sprint(l.done, " ", l.client, " ", l.op, " ", l.on, " ", l.seq, " ", l.id)
}

// parseStormLine parses a line. It returns an error for a truncated line.
func parseStormLine(text string) (l stormLine, err error) {
	_, err = fmt.Sscan(text, &l.done, &l.client, &l.op, &l.on, &l.seq, &l.id)
	return l, err
}

// stormData returns the data for an id: usually up to 3 KB, sometimes 200 KB.
func stormData(id string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(id))
	n := int(sum.Sum32())
	if n%16 == 0 {
		return id + strings.Repeat("#", 200_000)
	}
	return id + strings.Repeat(".", n%3000)
}

// childStorm works on the store until it kills itself.
func childStorm(ctx context.Context, driver Driver, dir, orders string) error {
	stormOrders, err := parseStormOrders(orders)
	if err != nil {
		return err
	}
	var done atomic.Int64
	reached := make(chan struct{})
	if stormOrders.after == 0 {
		close(reached)
	}
	go func() {
		<-reached
		time.Sleep(stormOrders.delay)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}()
	b, err := driver.Open(ctx, dir, 0)
	if err != nil {
		return err
	}
	fmt.Println(stormLine{done: true, op: "open", on: "-", id: "-"})
	shared := &stormShared{bus: b, finished: func() {
		if done.Add(1) == int64(stormOrders.after) {
			close(reached)
		}
	}}
	message, err := b.Log().Last(ctx, bus.Ledger)
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		return err
	}
	shared.ledger = message.Seq
	errs := make(chan error)
	for n := range stormOrders.clients {
		c := &stormClient{stormShared: shared, number: n, name: fmt.Sprintf("r%d.c%d", stormOrders.round, n),
			rng: rand.New(rand.NewPCG(stormOrders.seed, uint64(100*stormOrders.round+n)))}
		go func() { errs <- c.runOperations(ctx) }() // runs until the process is killed
	}
	return <-errs
}

// stormShared holds the data that the clients of a child share.
type stormShared struct {
	bus      bus.Bus
	mu       sync.Mutex // held during an append to the ledger, which must have one writer at a time
	ledger   uint64
	finished func() // called after each operation
}

// stormClient performs operations one after another. It is the only writer of its journals.
type stormClient struct {
	*stormShared
	number   int
	name     string
	rng      *rand.Rand
	n        int
	journals [3]uint64 // sequence of the last record of each
}

func (c *stormClient) journalName(k int) string { return fmt.Sprintf("run.storm.%d.%d", c.number, k) }

func (c *stormClient) runOperations(ctx context.Context) error {
	for k := range c.journals {
		message, err := c.bus.Log().Last(ctx, c.journalName(k))
		if err != nil && !errors.Is(err, bus.ErrNotFound) {
			return err
		}
		c.journals[k] = message.Seq
	}
	for {
		c.n++
		id := fmt.Sprintf("%s.%d", c.name, c.n)
		var err error
		switch what, k := c.rng.IntN(10), c.rng.IntN(len(c.journals)); {
		case what < 3:
			err = c.do(stormLine{op: "append", on: c.journalName(k), id: id}, func(l *stormLine) (err error) {
				l.seq, err = c.bus.Log().Append(ctx, l.on, []byte(stormData(id)), c.journals[k], id)
				c.journals[k] = l.seq
				return err
			})
		case what < 4:
			err = c.do(stormLine{op: "purge", on: c.journalName(k), id: "-"}, func(l *stormLine) error {
				c.journals[k] = 0
				return c.bus.Log().Purge(ctx, l.on)
			})
		case what < 6:
			err = c.appendLedger(ctx, id)
		case what < 9:
			err = c.workItem(ctx, id)
		default:
			err = c.do(stormLine{op: "blob", on: "-", id: id}, func(*stormLine) error {
				_, _, err := c.bus.Blobs().Put(ctx, strings.NewReader(stormData(id)))
				return err
			})
		}
		if err != nil {
			return err
		}
	}
}

// do prints a line, performs the operation, and prints the line again as done.
func (c *stormClient) do(l stormLine, operate func(*stormLine) error) error {
	l.client = c.number
	fmt.Println(l)
	if err := operate(&l); err != nil {
		return fmt.Errorf("%s: %w", l, err)
	}
	l.done = true
	fmt.Println(l)
	c.finished()
	return nil
}

func (c *stormClient) appendLedger(ctx context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.do(stormLine{op: "append", on: bus.Ledger, id: id}, func(l *stormLine) (err error) {
		l.seq, err = c.bus.Log().Append(ctx, bus.Ledger, []byte(stormData(id)), c.ledger, id)
		c.ledger = l.seq
		return err
	})
}

// workItem puts an item, leases the oldest one and settles it. Since each client puts an item first,
// there is always one to lease.
func (c *stormClient) workItem(ctx context.Context, id string) error {
	if err := c.do(stormLine{op: "put", on: id, id: id}, func(*stormLine) error {
		return c.bus.Queue().Put(ctx, bus.Item{ID: id, Body: []byte(stormData(id))})
	}); err != nil {
		return err
	}
	var lease bus.Lease
	if err := c.do(stormLine{op: "lease", on: "-", id: "-"}, func(l *stormLine) (err error) {
		if lease, err = c.bus.Queue().Lease(ctx); err == nil {
			l.on = lease.Item().ID
		}
		return err
	}); err != nil {
		return err
	}
	for _, op := range [][]string{{"ack"}, {"nack"}, {"extend", "ack"}, {"extend"}}[c.rng.IntN(4)] {
		if err := c.do(stormLine{op: op, on: lease.Item().ID, id: "-"}, func(*stormLine) error {
			switch op {
			case "ack":
				return lease.Ack(ctx)
			case "nack":
				return lease.Nack(ctx, 0)
			}
			return lease.Extend(ctx)
		}); err != nil {
			return err
		}
	}
	return nil
}
