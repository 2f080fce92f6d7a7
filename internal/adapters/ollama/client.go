// Package ollama drives a server that speaks Ollama's own protocol. It owns the
// translation between that wire and the company's types, the server's facts
// about its models (whether they can call tools, how much they can hold), and
// the default model where none is chosen.
//
// It promises that a conversation is never cut silently: the size of the
// context is sent with every request, a request that does not fit is an error,
// and a reply counts only when the server marked it as done. The requests are
// made by Ollama's own module; docs/decisions/0049 describes our part below it.
package ollama

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/envconfig"
	"github.com/ollama/ollama/types/model"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/company"
)

const (
	// Standard is where Ollama listens by default.
	Standard = "http://127.0.0.1:11434"
	// Preferred is the model that stands in for none chosen, where it is
	// installed.
	Preferred = "llama3"

	// patience is for the first piece of a reply and between two: a model is
	// loaded and a prompt read on a machine that may have no GPU, and nothing is
	// sent while a tool call is being written.
	patience = 15 * time.Minute

	defaultContext = 32 << 10 // tokens, where the model can hold more
	unknownContext = 8 << 10  // tokens, before the server is asked
	defaultOutput  = 8 << 10
	mostContext    = 100_000_000 // tokens that a server is believed to tell of
)

// Client is one model. It is an adapters.Model, and tells what its server
// tells.
type Client struct {
	cfg  adapters.Profile
	api  *api.Client
	http *exchange.Client
	// signs: the module signs the requests with the user's key of Ollama's.
	signs bool

	learning sync.Mutex // one asks, the others wait for what it learns
	mu       sync.Mutex // of facts
	facts    facts
}

// facts are the server's description of a model.
type facts struct {
	known   bool
	model   string // that is asked
	context int    // num_ctx
	tools   bool
	images  bool
}

var (
	_ adapters.Model       = (*Client)(nil)
	_ adapters.Preparer    = (*Client)(nil)
	_ adapters.ToolTeller  = (*Client)(nil)
	_ adapters.ImageTeller = (*Client)(nil)
	_ adapters.Available   = (*Client)(nil)
)

// New checks the profile and makes a client. It does not connect. The context
// (num_ctx) is by default the model's own limit, at most 32768, and a reply a
// quarter of it, at most 8192. Where the model was not chosen and is not
// installed, the first installed one that can call tools is taken.
func New(p adapters.Profile, deps adapters.Deps) (*Client, error) {
	// A proxy before the server may want the key.
	client, err := exchange.Open(&p, deps, Standard, Standard, exchange.Config{Bearer: true, FirstToken: patience, Idle: patience, Whole: 4 * exchange.DefaultWhole, Body: wrapReplies})
	if err != nil {
		return nil, err
	}
	// Many write the address of its other protocol, which Ollama serves too.
	p.BaseURL = strings.TrimSuffix(p.BaseURL, "/v1")
	base, err := url.Parse(p.BaseURL)
	if err != nil {
		return nil, company.E(company.EConfig, "base_url is no web address").Wrap(err)
	}
	signs := base.Hostname() == cloud || envconfig.UseAuth()
	if p.Key.Set() && base.Hostname() == cloud {
		// The module signs requests to this host, known by its spelling, with
		// the user's own key of Ollama's. Where a key is given, that is the key.
		base.Host, signs = strings.ToUpper(base.Host), envconfig.UseAuth()
	}
	return &Client{cfg: p, api: api.NewClient(base, client.HTTP), http: client, signs: signs}, nil
}

// cloud is Ollama's own service.
const cloud = "ollama.com"

// identityError is an error where the module would sign requests with the
// user's own key of Ollama's and there is none: the module would say so in its
// own way, on the terminal.
func (c *Client) identityError() error {
	if !c.signs {
		return nil
	}
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(filepath.Join(home, ".ollama", "id_ed25519"))
	}
	if err == nil {
		return nil
	}
	return &adapters.Error{Kind: adapters.Auth, Message: c.cfg.BaseURL + " asks for a login, and there is none", Err: err,
		Fix: "ollama signin, or name the variable of a key with api_key_env"}
}

// Factory makes the client of a profile; it is this adapter's line in the
// registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	return New(p, deps)
}

// Info describes the model. Its size is the server's, and a cautious guess
// before the server is asked.
func (c *Client) Info() adapters.Info {
	f := c.knownFacts()
	size := f.context
	if !f.known {
		size = cmp.Or(c.cfg.ContextTokens, unknownContext)
	}
	return adapters.Info{
		Adapter: "ollama", Model: cmp.Or(f.model, c.cfg.Model), ContextTokens: size,
		MaxOutput: cmp.Or(c.cfg.MaxOutput, min(defaultOutput, size/4)), Price: c.cfg.Price,
	}
}

func (c *Client) knownFacts() facts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.facts
}

// Close drops the idle connections.
func (c *Client) Close() error { return c.http.Close() }

// Address is where the server is looked for.
func (c *Client) Address() string { return c.cfg.BaseURL }

// Prepare asks the server for what Info tells, once.
func (c *Client) Prepare(ctx context.Context) error {
	_, err := c.modelFacts(ctx)
	return err
}

// Tools asks the server whether the model can call tools.
func (c *Client) Tools(ctx context.Context) (bool, error) {
	f, err := c.modelFacts(ctx)
	return f.tools, err
}

// Images asks the server whether the model takes images. Of one that it does not list it
// tells nothing.
func (c *Client) Images(ctx context.Context) (bool, error) {
	f, err := c.fetchFacts(ctx)
	return f.images, err
}

// Available asks the server about the model. A chosen one that it does not list it may
// serve all the same.
func (c *Client) Available(ctx context.Context) (adapters.Listing, error) {
	f, err := c.fetchFacts(ctx)
	var e *adapters.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound && !c.cfg.Unchosen {
		return adapters.Listing{Text: "answers: " + e.Message, State: adapters.Unlisted, Fix: e.Fix}, nil
	}
	if err != nil {
		return adapters.Listing{}, err
	}
	return adapters.Listing{Text: fmt.Sprintf("has %s, %d tokens of context", f.model, f.context), State: adapters.Listed}, nil
}

// modelFacts asks the server about the model. Little is known of a chosen model
// that the server does not list, but the model is used all the same: an alias,
// or a proxy that lists nothing, may serve it.
func (c *Client) modelFacts(ctx context.Context) (facts, error) {
	f, err := c.fetchFacts(ctx)
	var e *adapters.Error
	if !c.cfg.Unchosen && errors.As(err, &e) && e.Status == http.StatusNotFound {
		return facts{model: c.cfg.Model, context: cmp.Or(c.cfg.ContextTokens, unknownContext), tools: true}, nil
	}
	return f, err
}

// fetchFacts asks the server about the model, once.
func (c *Client) fetchFacts(ctx context.Context) (facts, error) {
	c.learning.Lock()
	defer c.learning.Unlock()
	if f := c.knownFacts(); f.known {
		return f, nil
	}
	f := facts{known: true, model: c.cfg.Model}
	var told shown
	err := c.identityError()
	if err != nil {
		return facts{}, err
	}
	if c.cfg.Unchosen {
		f.model, told, err = c.chooseDefault(ctx)
	} else {
		told, err = c.showModel(ctx, c.cfg.Model)
	}
	if err != nil {
		return facts{}, err
	}
	f.tools, f.context = told.hasCapability(model.CapabilityTools), told.contextSize(c.cfg.ContextTokens)
	f.images = told.hasCapability(model.CapabilityVision)
	c.mu.Lock()
	c.facts = f
	c.mu.Unlock()
	return f, nil
}

// Default is the model that is taken where none is chosen, and its description
// for doctor and init. host is OLLAMA_HOST, or empty.
func Default(ctx context.Context, host string) (model string, err error) {
	c, err := New(adapters.Profile{Model: Preferred, BaseURL: AddressOf(host), Unchosen: true}, adapters.Deps{})
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // idle connections only
	f, err := c.modelFacts(ctx)
	if err != nil {
		return "", adapters.Explain(err, c.Info())
	}
	return f.model, nil
}

// AddressOf is the address that OLLAMA_HOST names, as Ollama's own programs
// read it: a host, a port, both, with a scheme or without, in quotes too. Its own
// service needs no scheme.
func AddressOf(host string) string {
	host = strings.Trim(strings.TrimSpace(host), "\"'") // as env files write it
	switch host {
	case "":
		return Standard
	case cloud:
		return "https://" + cloud + ":443"
	}
	scheme, rest, ok := strings.Cut(host, "://")
	port := "11434"
	switch {
	case !ok:
		scheme, rest = "http", host
	case scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	rest, path, _ := strings.Cut(rest, "/")
	name := rest
	if h, p, err := net.SplitHostPort(rest); err == nil {
		name = h
		if n, err := strconv.ParseUint(p, 10, 16); err == nil && n > 0 {
			port = p
		}
	}
	name = strings.Trim(name, "[]")
	// To listen on every address is a server's matter; a client means its own.
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	return strings.TrimRight(scheme+"://"+net.JoinHostPort(name, port)+"/"+path, "/")
}

// explainError explains a failure, with the fix for Ollama.
func (c *Client) explainError(err error, model string) error {
	var e *adapters.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == adapters.Unreachable:
		e.Message = "no Ollama server at " + c.cfg.BaseURL + ": " + e.Message
		e.Fix = "start it with `ollama serve`, and get a model with `ollama pull " + model + "`; or name another model under models.default in company.yaml, " +
			"such as {adapter: openai, model: gpt-5}, or another address with OLLAMA_HOST (`make demo`, in company's source, needs no model)"
	case e.Status == http.StatusNotFound && strings.Contains(e.Message, "not found"):
		e.Fix = "ollama pull " + model
	case e.Kind == adapters.Auth:
		e.Fix = "ollama signin, or a model that runs on this machine"
	}
	return e
}
