package main

import (
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/adapters/scripted"
	"company/internal/company"
)

// Count is the usage of one kind of conversation as a model's server counts it. A token is four bytes of text, for
// every program alike.
type Count struct {
	Requests int   `json:"requests"`
	Input    int64 `json:"input"`  // tokens of all requests
	Cached   int64 `json:"cached"` // input tokens from a prefix cache
	Output   int64 `json:"output"` // tokens of all replies
	First    int64 `json:"first"`  // tokens of the first requests of the conversations
	Tools    int64 `json:"tools"`  // tokens of tool definitions, in all requests
	System   int64 `json:"system"` // tokens of system prompts, in all requests
	Brief    int64 `json:"brief"`  // tokens of first messages, in all requests
}

// cachedPrice is the price of a cached token relative to an uncached one. Most vendors that publish both prices charge
// a tenth.
const cachedPrice = 0.1

// Billed returns the input in tokens at full price.
func (c Count) Billed() float64 { return float64(c.Input-c.Cached) + cachedPrice*float64(c.Cached) }

// Add returns the sum of two counts.
func (c Count) Add(count Count) Count {
	return Count{
		c.Requests + count.Requests, c.Input + count.Input, c.Cached + count.Cached, c.Output + count.Output,
		c.First + count.First, c.Tools + count.Tools, c.System + count.System, c.Brief + count.Brief,
	}
}

// A server caches the prefix of a request if it has leastCached tokens, in steps of cachedStep. This is OpenAI's
// published rule. Other vendors cache at marks that a client sets.
const (
	leastCached = 1024
	cachedStep  = 128
)

// cachedFor is how long a request stays in the cache: the shortest time among vendors.
const cachedFor = 5 * time.Minute

// countingModel replies like its model, and counts the usage.
type countingModel struct {
	model func(scripted.Exchange) scripted.Reply

	mu     sync.Mutex
	counts map[company.Role]Count
	begun  map[company.RunID]bool
	cached []cachedRequest // oldest first
}

// cachedRequest is a request in a server's cache.
type cachedRequest struct {
	at   time.Time
	text string
}

func newCountingModel(model func(scripted.Exchange) scripted.Reply) *countingModel {
	return &countingModel{model: model, counts: map[company.Role]Count{}, begun: map[company.RunID]bool{}}
}

// Reply counts a request and returns the model's reply.
func (m *countingModel) Reply(exchange scripted.Exchange) scripted.Reply {
	reply := m.model(exchange)
	if reply.Err != "" || !exchange.HasHeader {
		return reply
	}
	usage, count := m.countRequest(exchange)
	for _, call := range reply.Calls {
		usage.OutputTokens += tokensOf(call.Tool) + len(call.Raw)/4
	}
	usage.OutputTokens += tokensOf(reply.Text)
	count.Output = int64(usage.OutputTokens)
	m.mu.Lock()
	m.counts[exchange.Header.Role] = m.counts[exchange.Header.Role].Add(count)
	m.mu.Unlock()
	reply.Usage = &usage
	return reply
}

// countRequest counts a request: tools, then messages, in the order that servers use.
func (m *countingModel) countRequest(exchange scripted.Exchange) (adapters.Usage, Count) {
	count := Count{Requests: 1}
	var all strings.Builder
	for _, t := range exchange.Tools {
		all.WriteString(t.Name + "\n" + t.Description + "\n" + string(t.Schema) + "\n")
	}
	count.Tools = int64(all.Len() / 4)
	brief := false
	for _, msg := range exchange.Messages {
		begin := all.Len()
		all.WriteString(msg.Role + "\n" + msg.Content + "\n")
		for _, call := range msg.ToolCalls {
			all.WriteString(call.Name + "\n" + call.Arguments + "\n")
		}
		switch size := int64((all.Len() - begin) / 4); {
		case msg.Role == adapters.System:
			count.System += size
		case msg.Role == adapters.User && !brief:
			count.Brief, brief = size, true
		}
	}
	now := all.String()
	same, first := m.findCached(exchange.Header.Run, now)
	cached := same / 4 / cachedStep * cachedStep
	if cached < leastCached {
		cached = 0
	}
	count.Input, count.Cached = int64(len(now)/4), int64(cached)
	if first {
		count.First = count.Input
	}
	return adapters.Usage{InputTokens: len(now) / 4, CachedTokens: cached}, count
}

// findCached returns the length of the longest prefix that the request shares with a cached one of any conversation,
// and adds the request to the cache. first reports whether it is the first of its run.
func (m *countingModel) findCached(run company.RunID, now string) (longest int, first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, m.begun[run] = !m.begun[run], true
	at := time.Now()
	m.cached = slices.DeleteFunc(m.cached, func(c cachedRequest) bool { return at.Sub(c.at) > cachedFor })
	for _, request := range m.cached {
		same := 0
		for same < min(len(now), len(request.text)) && now[same] == request.text[same] {
			same++
		}
		longest = max(longest, same)
	}
	m.cached = append(m.cached, cachedRequest{at, now})
	return longest, first
}

// takeCounts returns the counts by role and resets them.
func (m *countingModel) takeCounts() map[company.Role]Count {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.counts
	m.counts = map[company.Role]Count{}
	m.begun = map[company.RunID]bool{}
	m.cached = nil
	return out
}

// tokensOf returns the size of a text in tokens of four bytes.
func tokensOf(s string) int { return (len(s) + 3) / 4 }
