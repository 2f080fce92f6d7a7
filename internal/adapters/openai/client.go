// Package openai drives servers that speak OpenAI's chat completions protocol. It owns the translation between that
// wire and the company's types, in both directions over raw JSON: what the servers of many vendors add to the wire is
// kept and goes back to them. github.com/sashabaranov/go-openai has the types of what is the same everywhere. Replies
// are streamed, are limited in time and size, and count only if they are complete. Every failure is an *adapters.Error
// with a kind, and no error contains the key.
//
// It sends one request per Chat (more only if a server refuses it for a rule of its own, which the next one keeps).
// Retries are up to adapters.Retry.
package openai

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Standard is OpenAI's own address.
const Standard = "https://api.openai.com/v1"

// defaultMaxOutput is the reply limit of profiles without one, in tokens.
const defaultMaxOutput = 8192

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg  adapters.Profile
	http *exchange.Client

	learning sync.Mutex // held to change quirks
	quirks   atomic.Pointer[quirks]

	asking sync.Mutex
	asked  bool         // the server was asked for the context size
	window atomic.Int64 // its answer, 0 without one
	output bool         // MaxOutput comes from the profile
}

var _ adapters.Model = (*Client)(nil)

// New checks the profile and returns a client. It does not connect.
func New(profile adapters.Profile, deps adapters.Deps) (*Client, error) {
	client, err := exchange.Open(&profile, deps, Standard, "https://host/v1", exchange.Config{})
	if err != nil {
		return nil, err
	}
	limits, own := limitsOf(profile.BaseURL, profile.Model), profile.MaxOutput > 0
	profile.Adapter = cmp.Or(profile.Adapter, "openai")
	profile.ContextTokens = cmp.Or(profile.ContextTokens, limits.context)
	if profile.MaxOutput == 0 {
		profile.MaxOutput = cmp.Or(limits.output, defaultMaxOutput)
		if quarter := profile.ContextTokens / 4; quarter > 0 {
			profile.MaxOutput = min(profile.MaxOutput, quarter)
		}
	}
	c := &Client{cfg: profile, http: client, output: own}
	c.quirks.Store(&quirks{})
	return c, nil
}

// Factory returns the client of a profile, for the registry.
func Factory(profile adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if err := exchange.RequireKey(profile, "OPENAI_API_KEY"); err != nil {
		return nil, err
	}
	return New(profile, deps)
}

// Info describes the model.
func (c *Client) Info() adapters.Info {
	info := adapters.Info{
		Adapter: c.cfg.Adapter, Model: c.cfg.Model,
		ContextTokens: c.cfg.ContextTokens, MaxOutput: c.cfg.MaxOutput, Price: c.cfg.Price,
	}
	if told := int(c.window.Load()); told > 0 && info.ContextTokens == 0 {
		info.ContextTokens = told
		if quarter := told / 4; !c.output && quarter > 0 {
			info.MaxOutput = min(info.MaxOutput, quarter)
		}
	}
	return info
}

// Prepare asks the server once for the context size, if neither the profile nor a table has it. Several servers
// report it in their list of models.
func (c *Client) Prepare(ctx context.Context) error {
	if c.cfg.ContextTokens > 0 || c.cfg.BaseURL == Standard {
		return nil
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.asked {
		return nil
	}
	list, err := c.askForModels(ctx)
	switch adapters.KindOf(err) {
	case "", adapters.BadRequest, adapters.MalformedReply: // it answered, perhaps that it has no such list
		c.asked = true
	}
	for _, m := range list {
		if told := max(m.VLLM, m.Router, m.Groq, m.Mistral); m.ID == c.cfg.Model && told > 0 {
			c.window.Store(min(told, 100_000_000))
		}
	}
	return err
}

// listed is an entry of the server's list of models. Several servers say there what a model holds.
type listed struct {
	ID      string `json:"id"`
	VLLM    int64  `json:"max_model_len"`
	Router  int64  `json:"context_length"`
	Groq    int64  `json:"context_window"`
	Mistral int64  `json:"max_context_length"`
}

func (c *Client) askForModels(ctx context.Context) ([]listed, error) {
	var list struct{ Data []listed }
	err := c.http.Ask(ctx, c.cfg.BaseURL+"/models", c.newHeader(), nil, &list)
	return list.Data, err
}

// Close closes idle connections. Calls under way end with their contexts.
func (c *Client) Close() error {
	return c.http.Close()
}

// Available asks the server for its models. See exchange.Availability.
func (c *Client) Available(ctx context.Context) (adapters.Listing, error) {
	names, err := c.listModels(ctx)
	return c.http.Availability(c.cfg.Model, c.cfg.BaseURL == Standard, names, err)
}

// Address returns the server's address.
func (c *Client) Address() string { return c.cfg.BaseURL }

// listModels returns the names of the server's models.
func (c *Client) listModels(ctx context.Context) ([]string, error) {
	list, err := c.askForModels(ctx)
	var names []string
	for _, m := range list {
		names = append(names, m.ID)
	}
	return names, err
}
