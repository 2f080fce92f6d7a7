// Package openai drives every server that speaks OpenAI's chat completions
// protocol, over github.com/sashabaranov/go-openai. It owns the translation
// between that wire and the company's own types, and the watch over one
// exchange: replies stream, are bounded in time and size, and count as replies
// only when they are whole. Every failure is an *adapters.Error of the kind
// that says what to do; the key is in none of them.
//
// It does one request per Chat (more only when a server refuses a parameter by
// name and the request is sent again without it): trying again is
// adapters.Retry's.
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

// Standard is the address of OpenAI itself.
const Standard = "https://api.openai.com/v1"

// defaultMaxOutput is that of a profile that names none, in tokens.
const defaultMaxOutput = 8192

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg    adapters.Profile
	api    *sdk.Client
	http   *exchange.Client
	quirks quirks

	asking sync.Mutex
	asked  bool         // the server was asked how much the model holds
	window atomic.Int64 // its answer; 0: none
	output bool         // MaxOutput is the profile's
}

// quirks is what a server has been found not to take. It is learnt from the
// server's refusals, so that each is met once per Client.
type quirks struct {
	otherMaxTokens  atomic.Bool // the other one of max_tokens and max_completion_tokens
	noStreamOptions atomic.Bool
	noTemperature   atomic.Bool
	echo            atomic.Bool // it wants its reasoning back
	noEcho          atomic.Bool // it does not
}

var _ adapters.Model = (*Client)(nil)

// New checks the profile and makes a client. It does not connect.
func New(p adapters.Profile, deps adapters.Deps) (*Client, error) {
	client, err := exchange.Open(&p, deps, Standard, "https://host/v1", exchange.Config{Body: wrapEvents})
	if err != nil {
		return nil, err
	}
	limits, own := limitsOf(p.BaseURL, p.Model), p.MaxOutput > 0
	p.Adapter = cmp.Or(p.Adapter, "openai")
	p.ContextTokens = cmp.Or(p.ContextTokens, limits.context)
	if p.MaxOutput == 0 {
		p.MaxOutput = cmp.Or(limits.output, defaultMaxOutput)
		if quarter := p.ContextTokens / 4; quarter > 0 {
			p.MaxOutput = min(p.MaxOutput, quarter)
		}
	}
	config := sdk.DefaultConfig(p.Key.Reveal())
	config.BaseURL = p.BaseURL
	config.EmptyMessagesLimit = 1 << 31 // the reply's size and the clock are the limits
	config.HTTPClient = client.HTTP
	return &Client{cfg: p, api: sdk.NewClientWithConfig(config), http: client, output: own}, nil
}

// Factory makes the client of a profile; it is this adapter's line in the
// registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if err := exchange.RequireKey(p, "OPENAI_API_KEY"); err != nil {
		return nil, err
	}
	return New(p, deps)
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

// Prepare asks the server how much the model holds, once, where neither the
// profile nor a table tells. Several servers tell it in their list of models.
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
	case "", adapters.BadRequest, adapters.MalformedReply: // it answered, if only that it has no such list
		c.asked = true
	}
	for _, m := range list.Data {
		if told := max(m.VLLM, m.Router, m.Groq, m.Mistral); m.ID == c.cfg.Model && told > 0 {
			c.window.Store(min(told, 100_000_000))
		}
	}
	return err
}

// Close drops the idle connections. Calls under way are ended by their
// contexts.
func (c *Client) Close() error {
	return c.http.Close()
}

// Available asks the server which models it serves. See exchange.Availability.
func (c *Client) Available(ctx context.Context) (adapters.Listing, error) {
	names, err := c.listModels(ctx)
	return c.http.Availability(c.cfg.Model, c.cfg.BaseURL == Standard, names, err)
}

// Address is where the server is.
func (c *Client) Address() string { return c.cfg.BaseURL }

// listModels names the server's models.
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
