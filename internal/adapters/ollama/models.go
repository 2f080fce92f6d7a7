package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"company/internal/adapters"
)

// shown is what /api/show tells of a model.
type shown struct {
	Capabilities []string                   `json:"capabilities"`
	Parameters   string                     `json:"parameters"`
	Info         map[string]json.RawMessage `json:"model_info"`
}

// can reports a capability. Servers before 0.6.4 tell none; then the model is
// believed to have it, and a refusal says otherwise.
func (s shown) can(what string) bool {
	return s.Capabilities == nil || slices.Contains(s.Capabilities, what)
}

// limit is how many tokens the model was made for; 0 when that is not told.
func (s shown) limit() int {
	var arch string
	_ = json.Unmarshal(s.Info["general.architecture"], &arch)
	var n int
	_ = json.Unmarshal(s.Info[arch+".context_length"], &n)
	return max(n, 0)
}

// size is the context that is asked for: what the profile says, else what the
// model's own file says, else its limit as far as a common machine holds it.
func (s shown) size(configured int) int {
	size := configured
	for line := range strings.Lines(s.Parameters) {
		if f := strings.Fields(line); size == 0 && len(f) == 2 && f[0] == "num_ctx" {
			size, _ = strconv.Atoi(f[1])
		}
	}
	limit := s.limit()
	switch {
	case size > 0 && limit > 0:
		return min(size, limit)
	case size > 0:
		return size
	case limit > 0:
		return min(limit, defaultContext)
	}
	return unknownContext
}

// show asks about one model.
func (c *Client) show(ctx context.Context, model string) (shown, error) {
	var s shown
	err := c.ask(ctx, "/api/show", map[string]string{"model": model}, &s)
	var e *adapters.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		err = c.missing(ctx, e, model)
	}
	return s, c.explain(err, model)
}

// missing adds the names of the models that there are: whoever has to choose
// another one can.
func (c *Client) missing(ctx context.Context, e *adapters.Error, model string) error {
	names, err := c.list(ctx)
	if err != nil {
		return e
	}
	e.Message = "model '" + model + "' not found; the server has no models"
	if len(names) > 0 {
		e.Message = c.http.Hide("model '" + model + "' not found; the server has: " + strings.Join(names, ", "))
	}
	return e
}

// list names the installed models, the newest first.
func (c *Client) list(ctx context.Context) ([]string, error) {
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := c.ask(ctx, "/api/tags", nil, &tags); err != nil {
		return nil, c.explain(err, c.cfg.Model)
	}
	var names []string
	for _, m := range tags.Models {
		if m.Name != "" {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

// choose finds the model that stands in for none: the preferred one where it
// is installed, else the first that can call tools, else the first that can
// chat.
func (c *Client) choose(ctx context.Context) (string, shown, error) {
	names, err := c.list(ctx)
	if err != nil {
		return "", shown{}, err
	}
	if slices.ContainsFunc(names, func(n string) bool { return whole(n) == whole(c.cfg.Model) }) {
		s, err := c.show(ctx, c.cfg.Model)
		return c.cfg.Model, s, err
	}
	var second string
	var told shown
	for _, name := range names {
		s, err := c.show(ctx, name)
		if err != nil {
			return "", shown{}, err
		}
		if s.can("tools") && s.can("completion") {
			return name, s, nil
		}
		if second == "" && s.can("completion") {
			second, told = name, s
		}
	}
	if second == "" {
		return "", shown{}, c.explain(&adapters.Error{Kind: adapters.BadRequest, Status: http.StatusNotFound,
			Message: c.cfg.Model + " not found at " + c.cfg.BaseURL + ", and no other model that can chat is installed"}, c.cfg.Model)
	}
	return second, told, nil
}

// whole is a name with its tag.
func whole(name string) string {
	name = strings.ToLower(name)
	if !strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
		name += ":latest"
	}
	return name
}

// ask puts a question to the server; send, when not nil, is posted.
func (c *Client) ask(ctx context.Context, path string, send, into any) error {
	return c.http.Ask(ctx, c.cfg.BaseURL+path, c.header(), send, into)
}

// header carries the key that a proxy before the server may want.
func (c *Client) header() http.Header {
	if !c.cfg.Key.Set() {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + c.cfg.Key.Reveal()}}
}
