package ollama

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"company/internal/adapters"
)

// shown is the server's description of a model.
type shown struct{ *api.ShowResponse }

// hasCapability reports whether the model has a capability. Servers before 0.6.4 report none, and the model is
// then assumed to have it until a request is refused.
func (s shown) hasCapability(what model.Capability) bool {
	return s.Capabilities == nil || slices.Contains(s.Capabilities, what)
}

// contextLimit returns the model's own limit in tokens, 0 if unknown.
func (s shown) contextLimit() int {
	arch, _ := s.ModelInfo["general.architecture"].(string)
	n, _ := s.ModelInfo[arch+".context_length"].(float64)
	return int(min(max(n, 0), mostContext))
}

// contextSize returns the context size to request. It is the profile's setting, or else that of the model's own
// file, both limited by the model. Without either it is the model's limit, at most defaultContext. If that is
// unknown, too, it is unknownContext.
func (s shown) contextSize(configured int) int {
	size := configured
	for line := range strings.Lines(s.Parameters) {
		if f := strings.Fields(line); size == 0 && len(f) == 2 && f[0] == "num_ctx" {
			size, _ = strconv.Atoi(f[1]) // 0 if it is not a number
			size = min(max(size, 0), mostContext)
		}
	}
	limit := s.contextLimit()
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

// showModel asks the server about one model.
func (c *Client) showModel(ctx context.Context, name string) (shown, error) {
	told := shown{&api.ShowResponse{}}
	err := c.askServer(ctx, http.MethodPost, "/api/show", api.ShowRequest{Model: name}, told.ShowResponse)
	var fault *adapters.Error
	if errors.As(err, &fault) && fault.Status == http.StatusNotFound {
		err = c.modelMissing(ctx, fault, name)
	}
	return told, c.explainError(err, name)
}

// modelMissing adds the names of the server's models to an error, as alternatives.
func (c *Client) modelMissing(ctx context.Context, fault *adapters.Error, model string) error {
	names, err := c.listModels(ctx)
	if err != nil {
		return fault
	}
	fault.Message = "model '" + model + "' not found; the server has no models"
	if len(names) > 0 {
		fault.Message = c.http.Hide("model '" + model + "' not found; the server has: " + strings.Join(names, ", "))
	}
	return fault
}

// listModels returns the names of the installed models, newest first.
func (c *Client) listModels(ctx context.Context) ([]string, error) {
	var tags api.ListResponse
	if err := c.askServer(ctx, http.MethodGet, "/api/tags", nil, &tags); err != nil {
		return nil, c.explainError(err, c.cfg.Model)
	}
	// The server sorts by whole seconds, so the order within a second is undefined.
	slices.SortStableFunc(tags.Models, func(a, b api.ListModelResponse) int { return b.ModifiedAt.Compare(a.ModifiedAt) })
	var names []string
	for _, m := range tags.Models {
		if m.Name != "" {
			names = append(names, m.Name)
		}
	}
	return names, nil
}

// chooseDefault returns the default model: the preferred one if it is installed, else the first with tool
// support, else the first that can chat.
func (c *Client) chooseDefault(ctx context.Context) (string, shown, error) {
	names, err := c.listModels(ctx)
	if err != nil {
		return "", shown{}, err
	}
	if slices.ContainsFunc(names, func(n string) bool { return withTag(n) == withTag(c.cfg.Model) }) {
		s, err := c.showModel(ctx, c.cfg.Model)
		return c.cfg.Model, s, err
	}
	var second string
	var told shown
	for _, name := range names {
		s, err := c.showModel(ctx, name)
		if err != nil {
			return "", shown{}, err
		}
		if s.hasCapability(model.CapabilityTools) && s.hasCapability(model.CapabilityCompletion) {
			return name, s, nil
		}
		if second == "" && s.hasCapability(model.CapabilityCompletion) {
			second, told = name, s
		}
	}
	if second == "" {
		return "", shown{}, c.explainError(&adapters.Error{Kind: adapters.BadRequest, Status: http.StatusNotFound,
			Message: c.cfg.Model + " not found at " + c.cfg.BaseURL + ", and no other model that can chat is installed"},
			c.cfg.Model)
	}
	return second, told, nil
}

// withTag returns a name in lower case with its tag, by default latest.
func withTag(name string) string {
	name = strings.ToLower(name)
	if !strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") {
		name += ":latest"
	}
	return name
}
