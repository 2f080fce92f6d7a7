package adapters

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/lib/lazyregexp"
)

// ToolUse selects how a model gets its tools.
type ToolUse string

const (
	ToolsAuto ToolUse = "auto" // over the wire, unless the server reports that the model has no tool support
	ToolsYes  ToolUse = "yes"  // over the wire
	ToolsNo   ToolUse = "no"   // in the text protocol
)

// Preparer is a model that can ask its server for its Info.
type Preparer interface {
	// Prepare asks the server. After a success, further calls return at once. Info then includes the answer.
	Prepare(ctx context.Context) error
}

// ToolTeller is a model whose server reports whether it supports tools.
type ToolTeller interface {
	Tools(ctx context.Context) (bool, error)
}

// prepareFor limits Prepare, because a run waits for it.
const prepareFor = 5 * time.Second

// Prepare lets all models behind model ask their servers for their Info, in parallel, for a few seconds at most.
// It reports no failure, because the following call meets it again, with retries and fallbacks.
func Prepare(ctx context.Context, model Model) {
	ctx, cancel := context.WithTimeout(ctx, prepareFor)
	defer cancel()
	var wg sync.WaitGroup
	var each func(m Model)
	each = func(m Model) {
		if p, ok := m.(Preparer); ok {
			wg.Go(func() { _ = p.Prepare(ctx) })
			return
		}
		if w, ok := m.(interface{ Unwrap() []Model }); ok {
			for _, inner := range w.Unwrap() {
				each(inner)
			}
		}
	}
	each(model)
	wg.Wait()
}

// fitted is a bare model with the settings of its profile.
type fitted struct {
	Model
	temperature *float64
	tools       ToolUse

	mu     sync.Mutex
	asText bool // the model was found to have no tool support
	asked  bool // the server reported about tool support
}

// WithToolMode adds the temperature of the profile to every request, and sends tools in a form that the model
// accepts. With ToolsAuto, three events switch a model to tools as text for good. Its server reports no tool
// support (ToolTeller), or refuses a request because of its tools, or a request lists the model in Textual. The
// text of a model with tools over the wire is never searched for calls.
func WithToolMode(m Model, tools ToolUse, temperature *float64) Model {
	return &fitted{Model: m, tools: tools, temperature: temperature}
}

// Chat sends the request with tools in the model's form.
func (f *fitted) Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error) {
	req.Temperature = cmp.Or(req.Temperature, f.temperature)
	if len(req.Tools) == 0 && !speaksOfTools(req.Messages) {
		return f.Model.Chat(ctx, req, onEvent)
	}
	text, err := f.inText(ctx, req)
	if err != nil {
		return Response{}, err
	}
	if !text {
		resp, err := f.Model.Chat(ctx, req, onEvent)
		switch {
		case err == nil, !RefusesTools(err):
			return resp, err
		}
		if f.tools == ToolsYes {
			var fault *Error
			if errors.As(err, &fault) {
				fault.Fix = toolsFix
			}
			return resp, err
		}
		f.switchToText()
		if onEvent != nil {
			onEvent(Event{Reason: f.Info().Model + " takes no tools: it is given them in text"})
		}
	}
	fence := drawFence() // a new fence for each retry and fallback
	resp, err := f.Model.Chat(ctx, asText(req, fence), onEvent)
	if err != nil {
		return resp, err
	}
	resp.Textual = true
	return fromText(resp, req, fence), nil
}

// toolsFix is the fix for a model with `tools: yes` that accepts no tools over the wire.
const toolsFix = "take `tools: yes` out of the model's profile: by default it is given its tools in text; or use a " +
	"model that can call tools"

// inText reports whether to send tools as text.
func (f *fitted) inText(ctx context.Context, req Request) (bool, error) {
	if f.tools == ToolsYes || f.tools == ToolsNo {
		return f.tools == ToolsNo, nil
	}
	f.mu.Lock()
	asText, asked := f.asText, f.asked
	f.mu.Unlock()
	if asText {
		return true, nil
	}
	if slices.Contains(req.Textual, f.Info().Model) {
		f.switchToText()
		return true, nil
	}
	teller, ok := f.Model.(ToolTeller)
	if !ok || asked {
		return false, nil
	}
	can, err := teller.Tools(ctx)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	f.asked, f.asText = true, !can
	f.mu.Unlock()
	return !can, nil
}

func (f *fitted) switchToText() {
	f.mu.Lock()
	f.asText = true
	f.mu.Unlock()
}

// Unwrap returns the bare model.
func (f *fitted) Unwrap() []Model { return []Model{f.Model} }

// Close closes the model.
func (f *fitted) Close() error { return Close(f.Model) }

// noToolsRE matches messages that a model accepts no tools. The patterns are narrow: a complaint about one
// tool's schema is a bug of this program, and must not disable a model's tools.
var noToolsRE = lazyregexp.New(strings.Join([]string{
	`(?:does not|doesn't|do not|don't|cannot) (?:currently )?(?:support|accept|allow) (?:the )?(?:use of )?['"\x60]?(?:tools?|functions?)\b(?: us(?:e|age)| call(?:s|ing)| choice)?`,
	`(?:tools?|functions?|tool use|tool choice|tool_choice|tool[ -]call(?:s|ing)?|function[ -]call(?:s|ing)?)['"\x60]? (?:parameters? |fields? )?(?:is|are) (?:currently )?(?:not|un)[ -]?(?:supported|available|enabled|allowed|permitted)`,
	`(?:unsupported|unrecognized|unrecognised|unknown|unexpected|invalid) (?:request )?(?:parameters?|arguments?|fields?|keyword argument)(?: supplied)?:? ?['"\x60]?tools?['"\x60]?(?:\W|$)`,
	`no endpoints found that support tool use`,
	`tool choice requires --enable-auto-tool-choice`,
	`tools param requires --jinja`,
	`"body", ?"tools"\].{0,80}(?:extra|not permitted|not allowed|forbidden)`,
	`^tools: (?:extra inputs|extra fields)`,
}, "|"))

// RefusesTools reports whether err means that the model, or its server, accepts no tools at all.
func RefusesTools(err error) bool {
	var fault *Error
	if !errors.As(err, &fault) || fault.Status < 400 || fault.Kind == Auth || fault.Kind == Quota {
		return false
	}
	return noToolsRE.MatchString(strings.ToLower(fault.Message))
}
