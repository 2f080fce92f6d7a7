package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"company/internal/company"
)

// follower reads the feed of an office over TCP, as a page does, and notes what came.
// It holds the feed to its promise: a missed event is an error.
type follower struct {
	cancel context.CancelFunc
	ended  chan struct{}

	mu    sync.Mutex
	moved *sync.Cond
	seq   uint64    // of the newest event
	at    time.Time // when it came
	items int
	err   error // that ended it
}

// followEvents begins to read the feed with an event.
func (o *watchedOffice) followEvents(ctx context.Context, from uint64) (*follower, error) {
	ctx, cancel := context.WithCancel(ctx)
	l := &follower{cancel: cancel, ended: make(chan struct{}), seq: from - 1}
	l.moved = sync.NewCond(&l.mu)
	resp, err := o.sendRequest(ctx, fmt.Sprint("events?from=", from)) //nolint:bodyclose // it is closed where it is read
	if err != nil {
		cancel()
		return nil, err
	}
	go func() {
		defer close(l.ended)
		defer resp.Body.Close()
		err := l.readFeed(bufio.NewReaderSize(resp.Body, 16<<10))
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.err = err; ctx.Err() != nil {
			l.err = context.Cause(ctx)
		}
		l.moved.Broadcast()
	}()
	return l, nil
}

// sendRequest asks the office below /api/v1/ with the token of programs. The caller closes the body.
func (o *watchedOffice) sendRequest(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+"/api/v1/"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(company.E(company.EInternal, fmt.Sprintf("the office of the bench answered %s with "+
			"%s", path, resp.Status)), resp.Body.Close())
	}
	return resp, nil
}

// readFeed reads lines until the stream ends.
func (l *follower) readFeed(lines *bufio.Reader) error {
	next := uint64(0) // of the event whose data comes; 0: what comes is between two events
	for {
		line, err := lines.ReadSlice('\n')
		id, isID := bytes.CutPrefix(line, []byte("id: "))
		isData := bytes.HasPrefix(line, []byte("data: "))
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a long line
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return err
		}
		if isID {
			if next, err = strconv.ParseUint(string(bytes.TrimSpace(id)), 10, 64); err != nil {
				return err
			}
			continue
		}
		if !isData {
			continue
		}
		if err := l.noteArrival(next, time.Now()); err != nil {
			return err
		}
		next = 0
	}
}

// noteArrival takes an item; seq 0: it has no number.
func (l *follower) noteArrival(seq uint64, at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items++
	if seq == 0 {
		return nil
	}
	if seq != l.seq+1 {
		return company.E(company.EInternal, fmt.Sprintf("a listener got event %d after %d", seq, l.seq))
	}
	l.seq, l.at = seq, at
	l.moved.Broadcast()
	return nil
}

// awaitEvent waits for an event, and gives when it came.
func (l *follower) awaitEvent(seq uint64) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.seq < seq && l.err == nil {
		l.moved.Wait()
	}
	if l.seq < seq {
		return time.Time{}, l.err
	}
	return l.at, nil
}

// close ends it, and waits for that.
func (l *follower) close() {
	l.cancel()
	<-l.ended
}

// audience are the listeners of an office.
type audience []*follower

// gatherListeners adds listeners that begin with the next event, until there are n.
func (o *watchedOffice) gatherListeners(ctx context.Context, a audience, n int) (audience, error) {
	for len(a) < n {
		l, err := o.followEvents(ctx, o.state.Seq+1)
		if err != nil {
			return a, err
		}
		a = append(a, l)
	}
	return a, nil
}

// awaitEvent waits until all have an event, and gives when the last one got it.
func (a audience) awaitEvent(seq uint64) (last time.Time, err error) {
	for _, l := range a {
		at, err := l.awaitEvent(seq)
		if err != nil {
			return last, err
		}
		if at.After(last) {
			last = at
		}
	}
	return last, nil
}

func (a audience) close() {
	for _, l := range a {
		l.close()
	}
}

// drainBody reads an answer to its end, so that its connection serves the next request.
func drainBody(resp *http.Response) error {
	_, err := io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
