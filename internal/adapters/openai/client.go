// Package openai drives servers that speak OpenAI's chat completions protocol, over
// github.com/sashabaranov/go-openai. It owns the translation between that wire and the company's types, and the
// supervision of one exchange. Replies are streamed, are limited in time and size, and count only if they are
// complete. Every failure is an *adapters.Error with a kind, and no error contains the key.
//
// It sends one request per Chat (more only if a server refuses a parameter by name and the request is sent again
// without it). Retries are up to adapters.Retry.
package openai

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
)

// Standard is OpenAI's own address.
const Standard = "https://api.openai.com/v1"

// defaultMaxOutput is the reply limit of profiles without one, in tokens.
const defaultMaxOutput = 8192

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg    adapters.Profile
	api    *sdk.Client
	http   *exchange.Client
	quirks quirks

	asking sync.Mutex
	asked  bool         // the server was asked for the context size
	window atomic.Int64 // its answer, 0 without one
	output bool         // MaxOutput comes from the profile
}

// quirks records the parameters that a server has refused. They are learnt from its refusals, so each refusal
// happens once per Client.
type quirks struct {
	otherMaxTokens  atomic.Bool // use the other of max_tokens and max_completion_tokens
	noStreamOptions atomic.Bool
	noTemperature   atomic.Bool
	echo            atomic.Bool // the server requires its reasoning back
	noEcho          atomic.Bool // the server refuses its reasoning
}

var _ adapters.Model = (*Client)(nil)

// New checks the profile and returns a client. It does not connect.
func New(profile adapters.Profile, deps adapters.Deps) (*Client, error) {
	client, err := exchange.Open(&profile, deps, Standard, "https://host/v1", exchange.Config{Body: wrapEvents})
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
	config := sdk.DefaultConfig(profile.Key.Reveal())
	config.BaseURL = profile.BaseURL
	config.EmptyMessagesLimit = 1 << 31 // the reply's size and the timers are the limits
	config.HTTPClient = client.HTTP
	return &Client{cfg: profile, api: sdk.NewClientWithConfig(config), http: client, output: own}, nil
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
	var list struct {
		Data []struct {
			ID      string `json:"id"`
			VLLM    int64  `json:"max_model_len"`
			Router  int64  `json:"context_length"`
			Groq    int64  `json:"context_window"`
			Mistral int64  `json:"max_context_length"`
		} `json:"data"`
	}
	header := http.Header{}
	if c.cfg.Key.Set() {
		header.Set("Authorization", "Bearer "+c.cfg.Key.Reveal())
	}
	err := c.http.Ask(ctx, c.cfg.BaseURL+"/models", header, nil, &list)
	switch adapters.KindOf(err) {
	case "", adapters.BadRequest, adapters.MalformedReply: // it answered, perhaps that it has no such list
		c.asked = true
	}
	for _, m := range list.Data {
		if told := max(m.VLLM, m.Router, m.Groq, m.Mistral); m.ID == c.cfg.Model && told > 0 {
			c.window.Store(min(told, 100_000_000))
		}
	}
	return err
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
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	ctx, ex := c.http.Begin(ctx)
	defer ex.End()
	list, err := c.api.ListModels(ctx)
	if err != nil {
		return nil, c.callError(ex, err)
	}
	names := make([]string, 0, len(list.Models))
	for _, m := range list.Models {
		names = append(names, m.ID)
	}
	return names, nil
}
