package adapters_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"company/internal/adapters"
	"company/internal/company"
)

// A conversation that has a reply of the model, as one has that began before a restart.
var begun = adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "do it"},
	{Role: adapters.Assistant, Content: "ok"}}}

// TestRetryWaitsForAKnownServer: a server that has answered is waited for as a busy one is, while it is away.
func TestRetryWaitsForAKnownServer(t *testing.T) {
	away := slices.Repeat([]any{failure(adapters.Unreachable)}, 9)
	tests := []struct {
		name        string
		outcomes    []any // after a good reply
		calls       int
		kind        adapters.Kind
		least, most time.Duration
	}{
		{"a restart of 8 seconds", append(away[:4:4], good), 5, "", 8 * time.Second, 30 * time.Second},
		{"minutes", append(away[:9:9], good), 10, "", 90 * time.Second, 5 * time.Minute},
		{"refused, then loading", append(away[:2:2], failure(adapters.Overloaded), failure(adapters.Unreachable), good), 5,
			"", 7 * time.Second, 10 * time.Second},
		{"no name server knows it any more", []any{failure(adapters.UnknownHost), good}, 2, "", time.Second, time.Second},
		{"for longer than limits.model_wait", []any{failure(adapters.Unreachable)}, 0, adapters.Unreachable,
			14 * time.Minute, 15 * time.Minute},
		{"busy and away for longer than limits.model_wait", append(slices.Repeat(
			[]any{failure(adapters.Overloaded), failure(adapters.Unreachable)}, 100), good), 0, "", 14 * time.Minute,
			15 * time.Minute},
		{"it breaks each connection, and may bill each",
			[]any{&adapters.Error{Kind: adapters.Unreachable, Unanswered: true}}, 4, adapters.Unreachable, 7 * time.Second,
			7 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{name: "m", outcomes: append([]any{good}, tt.outcomes...)}
				m := adapters.Retry(f, adapters.DefaultPolicy(), adapters.WallClock{})
				if _, err := m.Chat(t.Context(), adapters.Request{}, nil); err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err := m.Chat(t.Context(), adapters.Request{}, nil)
				if tt.calls > 0 && (f.calls != 1+tt.calls || adapters.KindOf(err) != tt.kind) || tt.calls == 0 && err == nil {
					t.Errorf("%d calls, err %v; want %d, %q", f.calls-1, err, tt.calls, tt.kind)
				}
				if waited := time.Since(start); waited < tt.least || waited > tt.most {
					t.Errorf("waited %s, want %s to %s", waited, tt.least, tt.most)
				}
			})
		})
	}
}

// TestRetryKnowsServerOfAConversation: a process that resumes a conversation has had no answer yet, but the
// conversation has.
func TestRetryKnowsServerOfAConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{name: "m", outcomes: append(slices.Repeat([]any{failure(adapters.Unreachable)}, 6), good)}
		m := adapters.Retry(f, adapters.DefaultPolicy(), adapters.WallClock{})
		if _, err := m.Chat(t.Context(), begun, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestKnownServerOfModels: the models of a server share what is known of it. A fallback is asked soon.
func TestKnownServerOfModels(t *testing.T) {
	made := map[string]*fake{}
	registry := adapters.Registry{"fake": func(p adapters.Profile, _ adapters.Deps) (adapters.Model, error) {
		made[p.Name] = &fake{name: p.Model, outcomes: []any{good}}
		return made[p.Name], nil
	}}
	profiles := []adapters.Profile{
		{Name: "manager", Adapter: "fake", Model: "m", BaseURL: "http://a"},
		{Name: "worker", Adapter: "fake", Model: "w", BaseURL: "http://a"},
		{Name: "elsewhere", Adapter: "fake", Model: "e", BaseURL: "http://b"},
		{Name: "covered", Adapter: "fake", Model: "c", BaseURL: "http://a", Fallback: []string{"elsewhere"}},
	}
	for name, most := range map[string]time.Duration{"worker": 5 * time.Minute, "elsewhere": 7 * time.Second,
		"covered": 7 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			clear(made)
			models := adapters.NewModels(registry, profiles, adapters.Deps{})
			for _, n := range []string{"manager", name} {
				if _, err := models.Open(n); err != nil {
					t.Fatal(err)
				}
			}
			ask := func(n string) error {
				m, err := models.Open(n)
				if err != nil {
					t.Fatal(err)
				}
				_, err = m.Chat(t.Context(), adapters.Request{}, nil)
				return err
			}
			if err := ask("manager"); err != nil {
				t.Fatal(err)
			}
			made[name].outcomes = append(slices.Repeat([]any{failure(adapters.Unreachable)}, 8), good)
			start := time.Now()
			err := ask(name)
			waited := time.Since(start)
			if (err != nil) != (name == "elsewhere") || waited > most || waited < 7*time.Second {
				t.Errorf("%s: waited %s, err %v", name, waited, err)
			}
		})
	}
}

// TestRetryDoesNotWaitForAFallbackThatNeverAnswered: the reply in the conversation is that of another model.
func TestRetryDoesNotWaitForAFallbackThatNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := map[string]*fake{
			"a": {name: "a", outcomes: append(slices.Repeat([]any{failure(adapters.Unreachable)}, 4), good)},
			"b": {name: "b", outcomes: []any{failure(adapters.UnknownHost)}},
		}
		registry := adapters.Registry{"fake": func(p adapters.Profile, _ adapters.Deps) (adapters.Model, error) {
			return made[p.Name], nil
		}}
		models := adapters.NewModels(registry, []adapters.Profile{
			{Name: "a", Adapter: "fake", Model: "a", BaseURL: "http://a", Fallback: []string{"b"}},
			{Name: "b", Adapter: "fake", Model: "b", BaseURL: "http://b"}}, adapters.Deps{})
		m, err := models.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = m.Chat(t.Context(), begun, nil)
		if waited := time.Since(start); adapters.KindOf(err) != adapters.UnknownHost || waited != 7*time.Second ||
			made["b"].calls != 1 {
			t.Errorf("%d calls of b, waited %s: %v", made["b"].calls, waited, err)
		}
	})
}

// TestKnownServerNeedsNoPerson: a host that no name server knows any more has the right address if it has answered. The
// run is tried again before the president is asked.
func TestKnownServerNeedsNoPerson(t *testing.T) {
	for name, known := range map[string]bool{"known": true, "never answered": false} {
		synctest.Test(t, func(t *testing.T) {
			req := adapters.Request{}
			if known {
				req = begun
			}
			m := adapters.Retry(&fake{name: "m", outcomes: []any{failure(adapters.UnknownHost)}}, adapters.DefaultPolicy(),
				adapters.WallClock{})
			_, err := m.Chat(t.Context(), req, nil)
			told := adapters.Explain(err, m.Info())
			if company.CodeOf(told) != company.EModelAway || company.NeedsPerson(told) == known {
				t.Errorf("%s: %v", name, told)
			}
		})
	}
}

// TestRetryTellsHowLongItWaits: the limit of the waits is that of the server at hand.
func TestRetryTellsHowLongItWaits(t *testing.T) {
	for want, req := range map[time.Duration]adapters.Request{7 * time.Second: {}, 15 * time.Minute: begun} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancelCause(t.Context())
			f := &fake{name: "m", outcomes: []any{failure(adapters.Unreachable)}}
			stopped := errors.New("stopped")
			_, err := adapters.Retry(f, adapters.DefaultPolicy(), adapters.WallClock{}).Chat(ctx, req, func(e adapters.Event) {
				if e.Waiting > 0 {
					if e.Longest != want {
						t.Errorf("waits for up to %s, want %s", e.Longest, want)
					}
					stop(stopped)
				}
			})
			if !errors.Is(err, stopped) {
				t.Error(err)
			}
		})
	}
}
