package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/lib/safetext"
)

// Cache is how much input the models' servers read from their caches, as reported by the servers.
type Cache struct {
	InputTokens  int64 `json:"input_tokens"` // input that a server counted
	CachedTokens int64 `json:"cached_tokens"`
	Percent      int   `json:"percent"` // of the input, rounded down
}

// viewCache returns nil if no server counted.
func viewCache(cacheUse company.CacheUse) *Cache {
	if cacheUse.Input <= 0 {
		return nil
	}
	return &Cache{InputTokens: cacheUse.Input, CachedTokens: cacheUse.Cached,
		Percent: int(float64(cacheUse.Cached) / float64(cacheUse.Input) * 100)}
}

// RenderText describes the cached part of the input.
func (c Cache) RenderText() string {
	return fmt.Sprintf("%d %% of the input was cached (%d of %s)", c.Percent, c.CachedTokens,
		company.Count(int(c.InputTokens), "token"))
}

// ModelUse is a model that answered a run.
type ModelUse struct {
	Model        string   `json:"model"`
	Served       []string `json:"served,omitempty"` // other names that its server reported, in order
	CostMicroUSD *int64   `json:"cost_micro_usd"`
	Tokens       int64    `json:"tokens"`
}

func viewModels(models []company.ModelSpent) []ModelUse {
	var out []ModelUse
	for _, modelSpent := range models {
		out = append(
			out, ModelUse{Model: modelSpent.Model, Served: modelSpent.Served, CostMicroUSD: costOrNil(modelSpent.Spent),
				Tokens: modelSpent.Spent.Tokens})
	}
	return out
}

// RenderText returns the model with the names that its server reported.
func (m ModelUse) RenderText() string {
	names := make([]string, len(m.Served))
	for i, name := range m.Served {
		names[i] = safetext.EscapeLine(name, 80)
	}
	text := safetext.EscapeLine(m.Model, 80) + " as " + strings.Join(names, ", then ")
	if len(names) > 1 {
		text += " (the server changed it)"
	}
	return text
}
