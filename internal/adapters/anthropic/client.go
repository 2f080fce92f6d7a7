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
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
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

// Client is one model. It is an adapters.Model.
type Client struct {
	cfg    adapters.Profile
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

// New checks the profile and makes a client. It does not connect.
func New(p adapters.Profile, deps adapters.Deps) (*Client, error) {
	client, err := exchange.Open(&p, deps, Standard, "https://host", exchange.Config{Body: wrapEvents})
	if err != nil {
		return nil, err
	}
	p.BaseURL = strings.TrimSuffix(p.BaseURL, "/v1")
	p.ContextTokens = cmp.Or(p.ContextTokens, defaultContext)
	p.MaxOutput = cmp.Or(p.MaxOutput, min(defaultOutput, p.ContextTokens/4))
	// Not NewClient: that one reads keys, addresses and files of credentials
	// from the environment.
	opts := []option.RequestOption{option.WithBaseURL(p.BaseURL + "/"), option.WithMaxRetries(0), option.WithHTTPClient(client.HTTP)}
	if p.Key.Set() {
		opts = append(opts, option.WithAPIKey(p.Key.Reveal()))
	}
	return &Client{cfg: p, api: sdk.NewMessageService(opts...), http: client}, nil
}

// Factory makes the client of a profile; it is this adapter's line in the
// registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	if err := exchange.RequireKey(p, "ANTHROPIC_API_KEY"); err != nil {
		return nil, err
	}
	return New(p, deps)
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

// Available asks the server for the model, and for its list where it has not this one.
// See exchange.Availability.
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
