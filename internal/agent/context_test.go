package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
)

// fullBench reads results of 20k tokens each until the model has seen n.
func fullBench(t *testing.T, contextTokens int, n int) *bench {
	var script []adapters.Response
	for i := range n {
		r := calls(fmt.Sprintf(`read {"path":"f%d"}`, i))
		r.Usage = adapters.Usage{} // a server that does not count
		script = append(script, r)
	}
	b := newBench(t, replies(append(script, finish)...))
	b.model.info.ContextTokens = contextTokens
	b.cfg.Tools[0].Run = func(_ context.Context, args json.RawMessage) (Result, error) {
		return Result{Text: string(args) + strings.Repeat("x", 40_000), Keep: strings.Contains(string(args), "plan")}, nil
	}
	return b
}

func requestTokens(req adapters.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += messageTokens(m)
	}
	return n
}

func maskedIn(req adapters.Request) (masked, whole int) {
	for _, m := range req.Messages {
		switch {
		case m.Role != adapters.ToolRole:
		case m.Content == cleared:
			masked++
		default:
			whole++
		}
	}
	return masked, whole
}

func TestOldResultsAreMaskedInBatches(t *testing.T) {
	b := fullBench(t, 0, 25) // unknown context: 128k are assumed, so 102k is the limit
	out := b.mustRun(t)
	batches, before := 0, 0
	for i, req := range b.model.requests {
		requireSane(t, req)
		if n := requestTokens(req); n > AssumedContext*8/10 {
			t.Errorf("request %d has %d tokens", i, n)
		}
		masked, whole := maskedIn(req)
		if masked > before {
			batches++
			if kept := whole * 10_000; kept < 30_000 || kept > protectTokens {
				t.Errorf("request %d keeps %d tokens of results", i, kept)
			}
			if masked-before < 5 {
				t.Errorf("request %d masks only %d more: each mask costs the cached prefix", i, masked-before)
			}
		}
		before = masked
	}
	if batches < 2 || batches > 5 || b.journal.count(kindMask) != batches {
		t.Errorf("%d batches, %d records", batches, b.journal.count(kindMask))
	}
	for i, a := range answers(out.Messages)[:25] {
		if !strings.HasPrefix(a, fmt.Sprintf(`{"path":"f%d"}`, i)) {
			t.Errorf("the outcome has result %d masked", i)
		}
	}
}

func TestTheServersCountWins(t *testing.T) {
	b := fullBench(t, 50_000, 15) // 30k tokens by their bytes, under the limit of 40k
	b.cfg.Tools[0].Run = func(_ context.Context, args json.RawMessage) (Result, error) {
		return Result{Text: string(args) + strings.Repeat("x", 8000)}, nil
	}
	plain := b.model.reply
	b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		r, err := plain(n, req)
		r.Usage = adapters.Usage{InputTokens: 3 * requestTokens(req), OutputTokens: 10}
		return r, err
	}
	b.mustRun(t)
	if b.journal.count(kindMask) == 0 {
		t.Error("the server counts three times what bytes suggest, and nothing was masked")
	}
}

func TestTooLongIsMaskedAndAskedOnceMore(t *testing.T) {
	for _, again := range []bool{false, true} {
		b := fullBench(t, 0, 20)
		plain, refused := b.model.reply, false
		b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
			if refused = refused || requestTokens(req) > 45_000; requestTokens(req) > 45_000 || again && refused {
				return adapters.Response{}, &adapters.Error{Kind: adapters.TooLong, Status: 400}
			}
			return plain(n, req)
		}
		out, err := b.run(t)
		if again {
			if company.CodeOf(err) != company.EModel || b.journal.count(kindMask) != 1 || b.journal.count(kindDigest) > 1 ||
				!strings.Contains(err.Error(), "does not fit") {
				t.Errorf("masks %d, error %v", b.journal.count(kindMask), err)
			}
			continue
		}
		if err != nil || out.End != EndFinal || b.allowance.Balance().Reserved.Tokens != 0 {
			t.Errorf("end %s, error %v", out.End, err)
		}
		failed := 0
		for _, req := range b.model.requests {
			requireSane(t, req)
			if requestTokens(req) > 45_000 {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d requests over the real window: it is learned from the first", failed)
		}
	}
	b := newBench(t, replies(finish))
	b.model.reply = func(int, adapters.Request) (adapters.Response, error) {
		return adapters.Response{}, &adapters.Error{Kind: adapters.TooLong}
	}
	if _, err := b.run(t); company.CodeOf(err) != company.EModel || len(b.model.requests) != 1 {
		t.Errorf("%d requests, error %v: nothing to mask", len(b.model.requests), err)
	}
}

// A refusal in unknown words of a request near the window is tried once with room made. It is the error if that is
// refused, too, and of a small request at once.
func TestUnknownRefusalNearTheWindow(t *testing.T) {
	for _, c := range []struct {
		name     string
		over     int  // tokens that the server refuses
		forever  bool // it refuses all that follows
		refusals int
	}{{"full", 38_000, false, 1}, {"another reason", 38_000, true, 2}, {"a small request", 20_000, false, 1}} {
		b := fullBench(t, 52_000, 20)
		plain, refused := b.model.reply, 0
		b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
			if requestTokens(req) > c.over || c.forever && refused > 0 {
				refused++
				return adapters.Response{}, &adapters.Error{Kind: adapters.BadRequest, Status: 400, Message: "ineffable"}
			}
			return plain(n, req)
		}
		out, err := b.run(t)
		fits := err == nil && out.End == EndFinal
		if fits != (c.name == "full") || refused != c.refusals || !fits && !strings.Contains(err.Error(), "ineffable") {
			t.Errorf("%s: end %s after %d refusals, error %v", c.name, out.End, refused, err)
		}
	}
}

// A server that counts next to no tokens, and then refuses a request as too long, leaves a tiny
// limit. Room is made only where that frees something: a conversation does not clear the same
// results again and again.
func TestTinyLimitEnds(t *testing.T) {
	b := newBench(t, replies(calls(`read {"path":"a"}`), calls(`read {"path":"b"}`), says("text")))
	b.cfg.MaxTurns = 2
	b.mustRun(t)
	for limit := range 30 {
		c := newConversation(b.cfg)
		for i, kind := range b.journal.kinds {
			if err := c.foldRecord(t.Context(), b.blobs, kind, b.journal.records[i]); err != nil {
				t.Fatal(err)
			}
		}
		c.limit, c.protect = limit, limit/2
		for range 3 {
			switch s := c.makeRoom(); s.do {
			case mask:
				if c.tokensFreed(s.upto) <= 0 {
					t.Fatalf("limit %d: %d results are cleared, which frees nothing", limit, s.upto)
				}
				c.foldMask(maskRecord{Upto: s.upto})
			case condense:
				if c.tokensCondensed(s.upto, s.text) <= 0 {
					t.Fatalf("limit %d: turns are left out, which frees nothing", limit)
				}
				c.foldCondense(condenseRecord{Upto: s.upto}, s.text)
			}
		}
	}
}

// A run that clears without end is an error, not a processor that is busy for ever.
func TestEndlessClearingIsAnError(t *testing.T) {
	b := newBench(t, replies(finish))
	asked := 0
	b.cfg.Clearing = func(int) (*Clearing, bool) {
		asked++
		return &Clearing{Upto: 1}, false
	}
	if _, err := b.run(t); company.CodeOf(err) != company.EInternal || !strings.Contains(err.Error(), "does not end") {
		t.Errorf("error %v", err)
	}
	if asked > 2*maxPreparations || len(b.model.requests) != 0 {
		t.Errorf("asked %d times, %d requests", asked, len(b.model.requests))
	}
}

// A result that asks to be kept is kept: a to-do list outlives the files.
func TestKeptResultsAreNotMasked(t *testing.T) {
	b := fullBench(t, 0, 15)
	plain := b.model.reply
	b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
		r, err := plain(n, req)
		if n == 1 {
			r = calls(`read {"path":"plan"}`)
		}
		return r, err
	}
	b.mustRun(t)
	got := answers(b.model.last().Messages)
	if strings.HasPrefix(got[0], cleared) || !strings.HasPrefix(got[1], cleared) {
		t.Errorf("the first results are %.40q and %.40q", got[0], got[1])
	}
}

// The prefix that was sent stays as it was, so that a server's cache holds.
func TestPrefixIsStable(t *testing.T) {
	b := newBench(t, resumeScript())
	b.mustRun(t)
	for i := 1; i < len(b.model.requests); i++ {
		old, now := b.model.requests[i-1].Messages, b.model.requests[i].Messages
		for j := range old {
			if old[j].Role != now[j].Role || old[j].Content != now[j].Content {
				t.Fatalf("request %d changes message %d", i, j)
			}
		}
	}
}

// Old arguments leave the context as old results do: a worker that writes files
// sends more than it reads.
func TestOldArgumentsAreCleared(t *testing.T) {
	const window = 32_000
	var script []adapters.Response
	for i := range 40 {
		r := calls(fmt.Sprintf(`put {"path":"f%d","content":"%s"}`, i, strings.Repeat("x", 8000)))
		r.Usage = adapters.Usage{}
		script = append(script, r)
	}
	b := newBench(t, replies(append(script, finish)...))
	b.cfg.MaxTurns, b.model.info.ContextTokens = 100, window
	put := b.cfg.Tools[1]
	put.Spec.Name, put.Spec.Schema = "put", json.RawMessage(`{"type":"object"}`)
	put.Run = func(context.Context, json.RawMessage) (Result, error) {
		return Result{Text: "created", Changed: true}, nil
	}
	b.cfg.Tools = append(b.cfg.Tools, put)
	out := b.mustRun(t)
	if out.End != EndFinal || out.Turns != 41 {
		t.Fatalf("%s after %d turns", out.End, out.Turns)
	}
	for i, req := range b.model.requests {
		requireSane(t, req)
		if n := requestTokens(req); n > window {
			t.Errorf("request %d has %d tokens", i, n)
		}
	}
	last := b.model.last().Messages
	first := last[2].ToolCalls[0].Arguments
	if first != `{"content":"[8002 bytes cleared]","path":"f0"}` {
		t.Errorf("the first call is shown as %.200s", first)
	}
	if got := out.Messages[2].ToolCalls[0].Arguments; len(got) < 8000 {
		t.Errorf("the outcome has the call cleared: %s", got)
	}
}

// A conversation that fits no more, whatever is cleared, ends with what it has
// done when that lies in a workspace; a resumed one comes to the same end.
func TestFullIsAnEnd(t *testing.T) {
	for _, server := range []string{"refuses", "cuts in silence"} {
		long := says(strings.Repeat("thinking ", 600))
		long.Message.ToolCalls = calls(`write {"path":"a"}`).Message.ToolCalls
		b := newBench(t, replies(long))
		b.cfg.MaxTurns, b.cfg.NudgeAfter, b.cfg.StuckAfter = 100, 200, 201
		b.model.info.ContextTokens = 32_000
		b.cfg.First += strings.Repeat(" so it is", 12_500) // 28k tokens, which stay
		plain := b.model.reply
		b.model.reply = func(n int, req adapters.Request) (adapters.Response, error) {
			if server == "refuses" && requestTokens(req) > 30_000 {
				return adapters.Response{}, &adapters.Error{Kind: adapters.TooLong, Status: 400}
			}
			if requestTokens(req) > 32_000 {
				t.Errorf("%d tokens are asked of a window of 32000", requestTokens(req))
			}
			return plain(n, req)
		}
		kept := map[company.OID][]string{}
		w := b.enter(t, kept, nil)
		out := b.mustRun(t)
		if out.End != EndFull || out.Turns < 2 || len(w.lines) != out.Turns {
			t.Errorf("%s: %s after %d turns, %d lines", server, out.End, out.Turns, len(w.lines))
		}
		asked := len(b.model.requests)
		b.enter(t, kept, nil)
		if again := b.mustRun(t); again.End != EndFull || len(b.model.requests) != asked {
			t.Errorf("%s: resumed, %s after %d more requests", server, again.End, len(b.model.requests)-asked)
		}
	}
}

// A reminder travels inside of the result that it follows. A message of the president stays one of its own.
func TestRemindersAreInResults(t *testing.T) {
	const word = "take the blue one"
	same := calls(`read {"path":"a"}`)
	b := newBench(t, replies(same, same, same, same, finish))
	b.cfg.StuckAfter = 3
	b.cfg.Words = func() []string {
		if len(b.model.requests) < 2 {
			return nil
		}
		return []string{word}
	}
	b.mustRun(t)
	var where []string
	last := b.model.last().Messages
	for _, m := range last {
		for _, text := range []string{"[reminder]", word} {
			if strings.Contains(m.Content, text) {
				where = append(where, m.Role+" "+text)
			}
		}
	}
	if got := strings.Join(where, ", "); got != "user "+word+", tool [reminder]" {
		t.Errorf("%s in %+v", got, last)
	}
}
