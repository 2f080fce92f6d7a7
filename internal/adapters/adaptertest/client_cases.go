package adaptertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/secret"
)

// ExerciseGivingUp has the caller give up on a request that the server has
// taken and not begun to answer.
func ExerciseGivingUp[M Client](t *testing.T, w Wire, open Factory[M]) {
	t.Helper()
	started := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if answer := w.Ask[r.URL.Path]; answer != nil {
			answer(rw, r)
			return
		}
		close(started)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	stopped := company.E(company.EStopped, "stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(stopped) }()
	_, err := Open(t, open, adapters.Profile{Model: "m", BaseURL: server.URL + w.Path}, adapters.Deps{}).Chat(ctx, Request(), nil)
	var unbegun *adapters.Unbegun
	if !errors.Is(err, stopped) || adapters.KindOf(err) != "" || !errors.As(err, &unbegun) {
		t.Errorf("err = %v, want the caller's cause, and that nothing came", err)
	}
}

// RequireTold asks a model and wants its text to be told as it comes.
func RequireTold(t *testing.T, m adapters.Model, want string) {
	t.Helper()
	var told []string
	_, err := m.Chat(t.Context(), Request(), func(e adapters.Event) { told = append(told, e.Text) })
	if err != nil || strings.Join(told, "|") != want {
		t.Errorf("told %q, err %v", told, err)
	}
}

// RequireRefused wants the driver to refuse each of these profiles without a
// word of the password "hunter2" in them.
func RequireRefused[M Client](t *testing.T, open Factory[M], profiles map[string]adapters.Profile) {
	t.Helper()
	for name, p := range profiles {
		_, err := open(p, adapters.Deps{})
		if code := company.CodeOf(err); code != company.EConfig && code != company.EModelAuth || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

// RequireKeyUnlogged makes a request whose answer has the driver log something,
// and wants no word of its key in the log.
func RequireKeyUnlogged[M Client](t *testing.T, open Factory[M], url string, req adapters.Request) {
	t.Helper()
	var log bytes.Buffer
	p := adapters.Profile{Model: "m", BaseURL: url, Key: secret.New(Canary)}
	Chat(t, Open(t, open, p, adapters.Deps{Log: slog.New(slog.NewTextHandler(&log, nil))}), req)
	slog.New(slog.NewTextHandler(&log, nil)).Info("config", "cfg", p)
	if log.Len() == 0 || strings.Contains(log.String(), "canary") {
		t.Errorf("log: %s", log.String())
	}
}
