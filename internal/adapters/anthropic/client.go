// Package anthropic drives Anthropic's messages API, and servers that speak it. It owns the translation between
// that wire and the company's types. Results are sent in one message right after their calls, thinking is sent
// back unchanged, and requests carry marks for the server's cache.
//
// It promises one request per Chat (more only if a server refuses a parameter by name). Retries are up to
// adapters.Retry. The package reads no environment variables: key and address come from the profile. A reply
// counts only if the server gave the reason for its end.
package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Standard is Anthropic's own address.
const Standard = "https://api.anthropic.com"

const (
	// defaultContext fits into every current model. Some models accept more, which the profile may set, but each
	// request pays for its whole content.
	defaultContext = 200_000
	// defaultOutput is a reply limit that every current model supports.
	defaultOutput = 8192
)

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg    adapters.Profile
	http   *exchange.Client
	quirks quirks
}

// quirks records the parameters that a server has refused, so that each refusal happens once.
type quirks struct {
	noTemperature atomic.Bool
	noCache       atomic.Bool
	output        atomic.Pointer[exchange.OutputCap]
}

var (
	_ adapters.Model     = (*Client)(nil)
	_ adapters.Available = (*Client)(nil)
)

// New checks the profile and returns a client. It does not connect.
func New(profile adapters.Profile, deps adapters.Deps) (*Client, error) {
	client, err := exchange.Open(&profile, deps, Standard, "https://host", exchange.Config{})
	if err != nil {
		return nil, err
	}
	profile.BaseURL = strings.TrimSuffix(profile.BaseURL, "/v1")
	profile.ContextTokens = cmp.Or(profile.ContextTokens, defaultContext)
	profile.MaxOutput = cmp.Or(profile.MaxOutput, min(defaultOutput, profile.ContextTokens/4))
	c := &Client{cfg: profile, http: client}
	c.quirks.output.Store(&exchange.OutputCap{})
	return c, nil
}

// Factory returns the client of a profile, for the registry.
func Factory(profile adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if err := exchange.RequireKey(profile, "ANTHROPIC_API_KEY"); err != nil {
		return nil, err
	}
	return New(profile, deps)
}

// Info describes the model.
func (c *Client) Info() adapters.Info {
	return adapters.Info{
		Adapter: "anthropic", Model: c.cfg.Model,
		ContextTokens: c.cfg.ContextTokens, MaxOutput: c.cfg.MaxOutput, Price: c.cfg.Price,
	}
}

// Close closes idle connections.
func (c *Client) Close() error { return c.http.Close() }

// Address returns the server's address.
func (c *Client) Address() string { return c.cfg.BaseURL }

// Available asks the server for the model, and for its list if it lacks the model. See exchange.Availability.
func (c *Client) Available(ctx context.Context) (adapters.Listing, error) {
	var one struct {
		ID string `json:"id"`
	}
	err := c.getJSON(ctx, "/v1/models/"+url.PathEscape(c.cfg.Model), &one)
	if adapters.KindOf(err) != adapters.BadRequest {
		return adapters.Listing{Text: "has the model", State: adapters.Listed}, err
	}
	names, err := c.listModels(ctx)
	return c.http.Availability(c.cfg.Model, c.cfg.BaseURL == Standard, names, err)
}

// listModels returns the names of the server's models.
func (c *Client) listModels(ctx context.Context) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := c.getJSON(ctx, "/v1/models?limit=100", &list); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

func (c *Client) getJSON(ctx context.Context, path string, into any) error {
	return c.http.Ask(ctx, c.cfg.BaseURL+path, c.newHeader(), nil, into)
}

// newHeader returns the header of every request.
func (c *Client) newHeader() http.Header {
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if c.cfg.Key.Set() {
		h.Set("X-Api-Key", c.cfg.Key.Reveal())
	}
	return h
}
