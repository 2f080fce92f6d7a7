package adapters

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/lazyregexp"
)

// ToolUse says how a model is given tools.
type ToolUse string

const (
	ToolsAuto ToolUse = "auto" // over the wire, unless the server says that the model has none
	ToolsYes  ToolUse = "yes"  // over the wire
	ToolsNo   ToolUse = "no"   // in the text protocol
)

// Preparer is a model that can ask its server what Info should tell.
type Preparer interface {
	// Prepare asks once; after a success it does nothing. What it learns, Info
	// tells from then on.
	Prepare(ctx context.Context) error
}

// ToolTeller is a model whose server tells whether it can call tools.
type ToolTeller interface {
	Tools(ctx context.Context) (bool, error)
}

// prepareFor bounds Prepare: a run begins after it.
const prepareFor = 5 * time.Second

// Prepare lets each model behind m ask its server what Info should tell, at
// once and for a few seconds at most. A failure is not reported: the call that
// follows meets it again, and has retries and fallbacks.
func Prepare(ctx context.Context, m Model) {
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
	each(m)
	wg.Wait()
}

// fitted is a bare model with what its profile asks for.
type fitted struct {
	Model
	temperature *float64
	tools       ToolUse

	mu     sync.Mutex
	asText bool // found out: it has no tools
	asked  bool // the server reported that it has
}

// WithToolMode gives every request of a model the temperature of its profile, and tools
// in the way that the model can take them. With ToolsAuto a model is given them
// in text for the rest of its life when its server tells that it has none
// (ToolTeller), when a server refuses a request for its tools, or when the
// request names it in Textual. The text of a model that is given its tools over the
// wire is never read for calls.
func WithToolMode(m Model, tools ToolUse, temperature *float64) Model {
	return &fitted{Model: m, tools: tools, temperature: temperature}
}

// Chat asks the model.
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
			var e *Error
			if errors.As(err, &e) {
				e.Fix = toolsFix
			}
			return resp, err
		}
		f.switchToText()
		if onEvent != nil {
			onEvent(Event{Reason: f.Info().Model + " takes no tools: it is given them in text"})
		}
	}
	fence := drawFence() // a retry and a fallback come by here again
	resp, err := f.Model.Chat(ctx, asText(req, fence), onEvent)
	if err != nil {
		return resp, err
	}
	resp.Textual = true
	return fromText(resp, req, fence), nil
}

// toolsFix is for a model that is to take tools over the wire, and takes none.
const toolsFix = "take `tools: yes` out of the model's profile: by default it is given its tools in text; or use a model that can call tools"

// inText decides how tools are given now.
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

// Unwrap is the bare model.
func (f *fitted) Unwrap() []Model { return []Model{f.Model} }

// Close closes the model.
func (f *fitted) Close() error { return Close(f.Model) }

// noToolsRE are the ways in which servers say that a model takes no tools. They
// are narrow: a complaint about one tool's schema is a bug of ours, and must
// not turn a model's tools off.
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

// RefusesTools reports whether err says that the model, or its server, takes no
// tools at all.
func RefusesTools(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Status < 400 || e.Kind == Auth || e.Kind == Quota {
		return false
	}
	return noToolsRE.MatchString(strings.ToLower(e.Message))
}
