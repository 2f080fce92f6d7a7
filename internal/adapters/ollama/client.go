// Package ollama drives a server that speaks Ollama's own protocol. It owns the translation between that wire
// and the company's types, and the choice of a default model. It also owns the server's facts about its models
// (tool support, context size).
//
// It promises that a conversation is never cut silently. The size of the context is sent with every request, and
// a request that does not fit is an error. A reply counts only if the server marked it as done. Ollama's own
// module has the types of the requests (docs/decisions/models.md).
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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ollama/ollama/envconfig"
	"github.com/ollama/ollama/types/model"

	"company/internal/adapters"
	"company/internal/adapters/exchange"
	"company/internal/company"
)

const (
	// Standard is Ollama's default address.
	Standard = "http://127.0.0.1:11434"
	// Preferred is the default model, if it is installed.
	Preferred = "llama3"

	// patience limits the time to the first piece of a reply and between two pieces. The machine may have no GPU
	// when it loads a model and reads a prompt. The server sends no bytes while a tool call is being written.
	patience = 15 * time.Minute

	defaultContext = 32 << 10 // tokens, if the model supports more
	unknownContext = 8 << 10  // tokens, before the server is asked
	defaultOutput  = 8 << 10
	mostContext    = 100_000_000 // the largest number of tokens that is accepted from a server
)

// Client is one model. It is an adapters.Model, and can ask its server about the model.
type Client struct {
	cfg  adapters.Profile
	http *exchange.Client
	// signs means that requests without a key are signed with the user's Ollama key.
	signs bool

	learning sync.Mutex // one goroutine asks, the others wait for its result
	mu       sync.Mutex // guards facts
	facts    facts
}

// facts is the server's description of a model.
type facts struct {
	known   bool
	model   string // the model to request
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

// New checks the profile and returns a client. It does not connect. The context (num_ctx) is by default the
// model's own limit, at most 32768. A reply may take a quarter of it, at most 8192. If the model was not chosen
// and is not installed, the first installed model with tool support is used.
func New(profile adapters.Profile, deps adapters.Deps) (*Client, error) {
	client, err := exchange.Open(&profile, deps, Standard, Standard,
		exchange.Config{FirstToken: patience, Idle: patience, Whole: 4 * exchange.DefaultWhole})
	if err != nil {
		return nil, err
	}
	// Many users write the address of the OpenAI protocol, which Ollama serves too.
	profile.BaseURL = strings.TrimSuffix(profile.BaseURL, "/v1")
	base, err := url.Parse(profile.BaseURL)
	if err != nil {
		return nil, company.E(company.EConfig, "base_url is not a URL").Wrap(err)
	}
	return &Client{cfg: profile, http: client, signs: base.Hostname() == cloud || envconfig.UseAuth()}, nil
}

// cloud is the host of Ollama's own service.
const cloud = "ollama.com"

// Factory returns the client of a profile, for the registry.
func Factory(p adapters.Profile, deps adapters.Deps) (adapters.Model, error) {
	return New(p, deps)
}

// Info describes the model. The context size comes from the server. Before the server is asked, it is a cautious
// guess.
func (c *Client) Info() adapters.Info {
	facts := c.knownFacts()
	size := facts.context
	if !facts.known {
		size = cmp.Or(c.cfg.ContextTokens, unknownContext)
	}
	return adapters.Info{
		Adapter: "ollama", Model: cmp.Or(facts.model, c.cfg.Model), ContextTokens: size,
		MaxOutput: cmp.Or(c.cfg.MaxOutput, min(defaultOutput, size/4)), Price: c.cfg.Price,
	}
}

func (c *Client) knownFacts() facts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.facts
}

// Close closes idle connections.
func (c *Client) Close() error { return c.http.Close() }

// Address returns the server's address.
func (c *Client) Address() string { return c.cfg.BaseURL }

// Prepare asks the server for the data of Info. A known answer is not requested again.
func (c *Client) Prepare(ctx context.Context) error {
	_, err := c.modelFacts(ctx)
	return err
}

// Tools asks the server whether the model supports tools.
func (c *Client) Tools(ctx context.Context) (bool, error) {
	f, err := c.modelFacts(ctx)
	return f.tools, err
}

// Images asks the server whether the model accepts images. For an unlisted model it returns an error.
func (c *Client) Images(ctx context.Context) (bool, error) {
	f, err := c.fetchFacts(ctx)
	return f.images, err
}

// Available asks the server about the model. The server may serve an explicitly chosen model even if it does not
// list it.
func (c *Client) Available(ctx context.Context) (adapters.Listing, error) {
	facts, err := c.fetchFacts(ctx)
	var fault *adapters.Error
	if errors.As(err, &fault) && fault.Status == http.StatusNotFound && !c.cfg.Unchosen {
		return adapters.Listing{Text: "answers: " + fault.Message, State: adapters.Unlisted, Fix: fault.Fix}, nil
	}
	if err != nil {
		return adapters.Listing{}, err
	}
	return adapters.Listing{Text: fmt.Sprintf("has %s, %d tokens of context", facts.model, facts.context),
		State: adapters.Listed}, nil
}

// modelFacts returns the server's facts about the model. If the server does not list a chosen model, it returns
// defaults. An alias or a proxy without a list may still serve the model.
func (c *Client) modelFacts(ctx context.Context) (facts, error) {
	f, err := c.fetchFacts(ctx)
	var e *adapters.Error
	if !c.cfg.Unchosen && errors.As(err, &e) && e.Status == http.StatusNotFound {
		return facts{model: c.cfg.Model, context: cmp.Or(c.cfg.ContextTokens, unknownContext), tools: true}, nil
	}
	return f, err
}

// fetchFacts asks the server about the model. It caches a successful answer.
func (c *Client) fetchFacts(ctx context.Context) (facts, error) {
	c.learning.Lock()
	defer c.learning.Unlock()
	if f := c.knownFacts(); f.known {
		return f, nil
	}
	f := facts{known: true, model: c.cfg.Model}
	var told shown
	var err error
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

// Default returns the name of the default model, for doctor and init. host is OLLAMA_HOST, or empty.
func Default(ctx context.Context, host string) (model string, err error) {
	client, err := New(adapters.Profile{Model: Preferred, BaseURL: AddressOf(host), Unchosen: true}, adapters.Deps{})
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }() // idle connections only
	facts, err := client.modelFacts(ctx)
	if err != nil {
		return "", adapters.Explain(err, client.Info())
	}
	return facts.model, nil
}

// AddressOf returns the address in OLLAMA_HOST, with the rules of Ollama's own programs. It may be a host, a
// port or both, with or without a scheme, also in quotes. Ollama's own service needs no scheme.
func AddressOf(host string) string {
	host = strings.Trim(strings.TrimSpace(host), "\"'") // env files may contain quotes
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
	// A server may listen on every address, but a client then needs the local one.
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	return strings.TrimRight(scheme+"://"+net.JoinHostPort(name, port)+"/"+path, "/")
}

// explainError adds Ollama's fix to a failure.
func (c *Client) explainError(err error, model string) error {
	var fault *adapters.Error
	if !errors.As(err, &fault) {
		return err
	}
	switch {
	case fault.Kind == adapters.Unreachable:
		fault.Message = "no Ollama server at " + c.cfg.BaseURL + ": " + fault.Message
		fault.Fix = "start it with `ollama serve`, and get a model with `ollama pull " + model +
			"`; or set OLLAMA_HOST to another server; or choose another model: " + adapters.ChooseModel +
			" (`make demo`, in company's source, needs no model)"
	case fault.Status == http.StatusNotFound && strings.Contains(fault.Message, "not found"):
		fault.Fix = "ollama pull " + model
	case fault.Kind == adapters.Auth:
		fault.Fix = "ollama signin, or a model that runs on this machine"
	}
	return fault
}
