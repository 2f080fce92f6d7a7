package view

import (
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// Cache is how much of their input the servers of models read from a cache, as they
// counted it themselves.
type Cache struct {
	InputTokens  int64 `json:"input_tokens"` // that a server counted
	CachedTokens int64 `json:"cached_tokens"`
	Percent      int   `json:"percent"` // of the input, rounded down
}

// viewCache is nil where no server counted.
func viewCache(u company.CacheUse) *Cache {
	if u.Input <= 0 {
		return nil
	}
	return &Cache{InputTokens: u.Input, CachedTokens: u.Cached, Percent: int(float64(u.Cached) / float64(u.Input) * 100)}
}

// RenderText is a cache's share for people.
func (c Cache) RenderText() string {
	return fmt.Sprintf("%d %% of the input was cached (%d of %s)", c.Percent, c.CachedTokens, company.Count(int(c.InputTokens), "token"))
}

// ModelUse is a model that answered a run.
type ModelUse struct {
	Model        string   `json:"model"`
	Served       []string `json:"served,omitempty"` // other names that its server gave it, as they came
	CostMicroUSD *int64   `json:"cost_micro_usd"`
	Tokens       int64    `json:"tokens"`
}

func viewModels(models []company.ModelSpent) []ModelUse {
	var out []ModelUse
	for _, m := range models {
		out = append(out, ModelUse{Model: m.Model, Served: m.Served, CostMicroUSD: costOrNil(m.Spent), Tokens: m.Spent.Tokens})
	}
	return out
}

// RenderText names the model and the names that its server gave it.
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
