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
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/company"
	"company/internal/secret"
)

// Standard is the address of OpenAI itself.
const Standard = "https://api.openai.com/v1"

// defaultMaxOutput is that of a Config, in tokens.
const defaultMaxOutput = 8192

// Config of one model behind one server. The zero value of a field means its
// default.
type Config struct {
	Adapter       string // as Info tells it; default openai
	Model         string
	BaseURL       string // up to and with /v1; default Standard
	Key           secret.Value
	ContextTokens int
	MaxOutput     int // tokens; default 8192, or less where the context is small
	Price         adapters.Price
	EchoReasoning bool

	FirstToken time.Duration // from the request to the first piece of the reply; default 5m
	Idle       time.Duration // between two pieces; default 300s
	MaxReply   int64         // bytes of one reply on the wire; default 10 MiB
	Log        *slog.Logger
}

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg    Config
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

// New checks the configuration and makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	var err error
	if cfg.BaseURL, err = exchange.Base(cmp.Or(cfg.BaseURL, Standard), "https://host/v1"); err != nil {
		return nil, err
	}
	if cfg.Model == "" {
		return nil, company.E(company.EConfig, "no model is named")
	}
	if err := exchange.CheckKey(cfg.Key); err != nil {
		return nil, err
	}
	limits, own := limitsOf(cfg.BaseURL, cfg.Model), cfg.MaxOutput > 0
	cfg.Adapter = cmp.Or(cfg.Adapter, "openai")
	cfg.ContextTokens = cmp.Or(cfg.ContextTokens, limits.context)
	if cfg.MaxOutput == 0 {
		cfg.MaxOutput = cmp.Or(limits.output, defaultMaxOutput)
		if quarter := cfg.ContextTokens / 4; quarter > 0 {
			cfg.MaxOutput = min(cfg.MaxOutput, quarter)
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}

	client := exchange.NewClient(exchange.Config{Key: cfg.Key, FirstToken: cfg.FirstToken, Idle: cfg.Idle, MaxReply: cfg.MaxReply, Body: wrapEvents})
	config := sdk.DefaultConfig(cfg.Key.Reveal())
	config.BaseURL = cfg.BaseURL
	config.EmptyMessagesLimit = 1 << 31 // the reply's size and the clock are the limits
	config.HTTPClient = client.HTTP
	return &Client{cfg: cfg, api: sdk.NewClientWithConfig(config), http: client, output: own}, nil
}

// Factory makes the client of a profile; it is this adapter's line in the
// registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if p.BaseURL == "" && !p.Key.Set() {
		name := cmp.Or(p.KeyEnv, "OPENAI_API_KEY")
		return nil, company.E(company.EModelAuth, fmt.Sprintf("model profile %q has no key", p.Name)).
			Because(name + " is NOT SET").Fix("export " + name + "=...")
	}
	return New(ConfigOf(p, deps))
}

// ConfigOf is the configuration that a profile asks for.
func ConfigOf(p adapters.Profile, deps adapters.Deps) Config {
	return Config{
		Adapter: p.Adapter, Model: p.Model, BaseURL: p.BaseURL, Key: p.Key,
		ContextTokens: p.ContextTokens, MaxOutput: p.MaxOutput, Price: p.Price,
		EchoReasoning: p.EchoReasoning, Log: deps.Log,
	}
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

// Available asks the server which models it serves: an *adapters.Error when
// there is no server, or when OpenAI itself has not this one. Other servers
// answer to names that they do not list (a router's variants, any name at all):
// their lists are only reported.
func (c *Client) Available(ctx context.Context) (string, error) {
	names, err := c.listModels(ctx)
	switch {
	case adapters.KindOf(err) == adapters.BadRequest: // it has no such list
		return "answers", nil
	case err != nil:
		return "", err
	case len(names) == 0: // many compatible servers list nothing and serve any name
		return "answers", nil
	case slices.Contains(names, c.cfg.Model):
		return "has the model", nil
	case c.cfg.BaseURL != Standard:
		return "answers, and lists " + c.http.Hide(strings.Join(names[:min(len(names), 5)], ", ")) + " and not this one", nil
	}
	return "", c.modelMissing("the server has no model "+c.cfg.Model, names)
}

// modelMissing is the error of a model that the server has not, with those that it
// has.
func (c *Client) modelMissing(what string, names []string) error {
	return &adapters.Error{Kind: adapters.BadRequest, Status: http.StatusNotFound,
		Message: c.http.Hide(what + "; it has: " + strings.Join(names, ", ")),
		Fix:     "name one of the models that the server has in company.yaml"}
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
