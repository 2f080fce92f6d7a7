package work

import (
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
)

// Count is what a model's server saw of one kind of conversations. A token is four bytes
// of text, for every program alike.
type Count struct {
	Requests int   `json:"requests"`
	Input    int64 `json:"input"`  // tokens of all requests
	Cached   int64 `json:"cached"` // of them, tokens that a server's cache of prefixes has
	Output   int64 `json:"output"` // tokens of all replies
	First    int64 `json:"first"`  // tokens of the first requests of the conversations
	Tools    int64 `json:"tools"`  // tokens of tool definitions, in all requests
	System   int64 `json:"system"` // tokens of system prompts, in all requests
	Brief    int64 `json:"brief"`  // tokens of first messages, in all requests
}

// cachedPrice is the price of a cached token beside one that is not cached: of the vendors
// that name both prices most have a tenth.
const cachedPrice = 0.1

// Billed is the input in tokens at their full price.
func (c Count) Billed() float64 { return float64(c.Input-c.Cached) + cachedPrice*float64(c.Cached) }

// Add sums two counts.
func (c Count) Add(d Count) Count {
	return Count{
		c.Requests + d.Requests, c.Input + d.Input, c.Cached + d.Cached, c.Output + d.Output,
		c.First + d.First, c.Tools + d.Tools, c.System + d.System, c.Brief + d.Brief,
	}
}

// A server caches the prefix of a request from so many tokens on, in such steps: OpenAI's
// published rule. The other vendors have steps at the marks that a client sets.
const (
	leastCached = 1024
	cachedStep  = 128
)

// cachedFor is how long a request stays in the cache: the shortest time of the vendors.
const cachedFor = 5 * time.Minute

// countingModel answers as its model does, and counts what it is asked.
type countingModel struct {
	model func(scripted.Exchange) scripted.Reply

	mu     sync.Mutex
	counts map[company.Role]Count
	begun  map[company.RunID]bool
	cached []cachedRequest // the oldest first
}

// cachedRequest is a request that a server's cache has.
type cachedRequest struct {
	at   time.Time
	text string
}

func newCountingModel(model func(scripted.Exchange) scripted.Reply) *countingModel {
	return &countingModel{model: model, counts: map[company.Role]Count{}, begun: map[company.RunID]bool{}}
}

// Reply counts a request and gives the model's reply.
func (m *countingModel) Reply(x scripted.Exchange) scripted.Reply {
	r := m.model(x)
	if r.Err != "" || !x.HasHeader {
		return r
	}
	u, c := m.countRequest(x)
	for _, call := range r.Calls {
		u.OutputTokens += tokensOf(call.Tool) + len(call.Raw)/4
	}
	u.OutputTokens += tokensOf(r.Text)
	c.Output = int64(u.OutputTokens)
	m.mu.Lock()
	m.counts[x.Header.Role] = m.counts[x.Header.Role].Add(c)
	m.mu.Unlock()
	r.Usage = &u
	return r
}

// countRequest counts one request: tools, then messages, as servers put them together.
func (m *countingModel) countRequest(x scripted.Exchange) (adapters.Usage, Count) {
	c := Count{Requests: 1}
	var all strings.Builder
	for _, t := range x.Tools {
		all.WriteString(t.Name + "\n" + t.Description + "\n" + string(t.Schema) + "\n")
	}
	c.Tools = int64(all.Len() / 4)
	brief := false
	for _, msg := range x.Messages {
		begin := all.Len()
		all.WriteString(msg.Role + "\n" + msg.Content + "\n")
		for _, call := range msg.ToolCalls {
			all.WriteString(call.Name + "\n" + call.Arguments + "\n")
		}
		switch size := int64((all.Len() - begin) / 4); {
		case msg.Role == adapters.System:
			c.System += size
		case msg.Role == adapters.User && !brief:
			c.Brief, brief = size, true
		}
	}
	now := all.String()
	same, first := m.findCached(x.Header.Run, now)
	cached := same / 4 / cachedStep * cachedStep
	if cached < leastCached {
		cached = 0
	}
	c.Input, c.Cached = int64(len(now)/4), int64(cached)
	if first {
		c.First = c.Input
	}
	return adapters.Usage{InputTokens: len(now) / 4, CachedTokens: cached}, c
}

// findCached is the length of the longest prefix of a request that an earlier one has, of
// whatever conversation; the request is cached from here on. first: it is its run's first.
func (m *countingModel) findCached(run company.RunID, now string) (longest int, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, m.begun[run] = !m.begun[run], true
	at := time.Now()
	m.cached = slices.DeleteFunc(m.cached, func(c cachedRequest) bool { return at.Sub(c.at) > cachedFor })
	for _, c := range m.cached {
		same := 0
		for same < min(len(now), len(c.text)) && now[same] == c.text[same] {
			same++
		}
		longest = max(longest, same)
	}
	m.cached = append(m.cached, cachedRequest{at, now})
	return longest, first
}

// takeCounts gives the counts, by role, and begins anew.
func (m *countingModel) takeCounts() map[company.Role]Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.counts
	m.counts, m.begun, m.cached = map[company.Role]Count{}, map[company.RunID]bool{}, nil
	return out
}

// tokensOf is the size of a text: four bytes are a token.
func tokensOf(s string) int { return (len(s) + 3) / 4 }
