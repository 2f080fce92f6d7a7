// Package anthropic drives Anthropic's messages API, and servers that speak it,
// over github.com/anthropics/anthropic-sdk-go. It owns the translation between
// that wire and the company's types: results in one message right behind their
// calls, thinking that goes back as it came, and the marks for the server's
// cache.
//
// It promises one request per Chat (more only when a server refuses a parameter
// by name): trying again is adapters.Retry's, so the SDK's own retries are off.
// Nothing is read from the environment: key and address are the profile's. A
// reply counts only when the server gave the reason for its end.
package anthropic

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/company"
	"company/internal/secret"
)

// Standard is the address of Anthropic itself.
const Standard = "https://api.anthropic.com"

const (
	// defaultContext is what every current model holds. Some hold more, which
	// the profile may ask for: each request pays for all that it carries.
	defaultContext = 200_000
	// defaultOutput is what every current model may answer at most or more.
	defaultOutput = 8192
)

// Config of one model. The zero value of a field means its default.
type Config struct {
	Model         string
	BaseURL       string // default Standard
	Key           secret.Value
	ContextTokens int
	MaxOutput     int
	Price         adapters.Price

	FirstToken, Idle time.Duration
	MaxReply         int64
	Log              *slog.Logger
}

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg    Config
	api    sdk.MessageService
	http   *exchange.Client
	quirks quirks
}

// quirks is what a server has been found not to take, each met once.
type quirks struct {
	noTemperature atomic.Bool
	noCache       atomic.Bool
}

var (
	_ adapters.Model     = (*Client)(nil)
	_ adapters.Available = (*Client)(nil)
)

// New checks the configuration and makes a client. It does not connect.
func New(cfg Config) (*Client, error) {
	var err error
	if cfg.BaseURL, err = exchange.Base(cmp.Or(cfg.BaseURL, Standard), "https://host"); err != nil {
		return nil, err
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/v1")
	if cfg.Model == "" {
		return nil, company.E(company.EConfig, "no model is named")
	}
	if err := exchange.CheckKey(cfg.Key); err != nil {
		return nil, err
	}
	cfg.ContextTokens = cmp.Or(cfg.ContextTokens, defaultContext)
	cfg.MaxOutput = cmp.Or(cfg.MaxOutput, min(defaultOutput, cfg.ContextTokens/4))
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	client := exchange.NewClient(exchange.Config{Key: cfg.Key, FirstToken: cfg.FirstToken, Idle: cfg.Idle, MaxReply: cfg.MaxReply, Body: wrapEvents})
	// Not NewClient: that one reads keys, addresses and files of credentials
	// from the environment.
	opts := []option.RequestOption{option.WithBaseURL(cfg.BaseURL + "/"), option.WithMaxRetries(0), option.WithHTTPClient(client.HTTP)}
	if cfg.Key.Set() {
		opts = append(opts, option.WithAPIKey(cfg.Key.Reveal()))
	}
	return &Client{cfg: cfg, api: sdk.NewMessageService(opts...), http: client}, nil
}

// Factory makes the client of a profile; it is this adapter's line in the
// registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if p.BaseURL == "" && !p.Key.Set() {
		name := cmp.Or(p.KeyEnv, "ANTHROPIC_API_KEY")
		return nil, company.E(company.EModelAuth, fmt.Sprintf("model profile %q has no key", p.Name)).
			Because(name + " is NOT SET").Fix("export " + name + "=...")
	}
	return New(Config{
		Model: p.Model, BaseURL: p.BaseURL, Key: p.Key, ContextTokens: p.ContextTokens, MaxOutput: p.MaxOutput,
		Price: p.Price, Log: deps.Log,
	})
}

// Info describes the model.
func (c *Client) Info() adapters.Info {
	return adapters.Info{
		Adapter: "anthropic", Model: c.cfg.Model,
		ContextTokens: c.cfg.ContextTokens, MaxOutput: c.cfg.MaxOutput, Price: c.cfg.Price,
	}
}

// Close drops the idle connections.
func (c *Client) Close() error { return c.http.Close() }

// Address is where the server is.
func (c *Client) Address() string { return c.cfg.BaseURL }

// Available asks the server for the model: an *adapters.Error when there is no
// server, when it refuses the key, or when Anthropic itself has not this one.
// Other servers may answer to names that they do not list.
func (c *Client) Available(ctx context.Context) (string, error) {
	var one struct {
		ID string `json:"id"`
	}
	err := c.getJSON(ctx, "/v1/models/"+url.PathEscape(c.cfg.Model), &one)
	if adapters.KindOf(err) != adapters.BadRequest {
		return "has the model", err
	}
	names, lerr := c.listModels(ctx)
	switch {
	case adapters.KindOf(lerr) == adapters.BadRequest: // it has no such list
		return "answers", nil
	case lerr != nil:
		return "", lerr
	case len(names) == 0 || slices.Contains(names, c.cfg.Model):
		return "answers", nil
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

// listModels names the server's models.
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
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if c.cfg.Key.Set() {
		header.Set("X-Api-Key", c.cfg.Key.Reveal())
	}
	return c.http.Ask(ctx, c.cfg.BaseURL+path, header, nil, into)
}
