package adapters_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/company"
)

// seer is a model that counts requests; err is its answer.
type seer struct {
	asked int
	err   error
}

func (s *seer) Info() adapters.Info { return adapters.Info{Model: "seer", MaxOutput: 1} }
func (s *seer) Chat(context.Context, adapters.Request, func(adapters.Event)) (adapters.Response, error) {
	s.asked++
	return adapters.Response{}, s.err
}

// told is a seer whose server tells whether it takes images.
type told struct {
	seer
	takes bool
	err   error
}

func (m *told) Images(context.Context) (bool, error) { return m.takes, m.err }

// TestTakesImages: the profile decides, then the server, then the name.
func TestTakesImages(t *testing.T) {
	server := &told{}
	registry := adapters.Registry{
		"plain":  func(adapters.Profile, adapters.Deps) (adapters.Model, error) { return &seer{}, nil },
		"server": func(adapters.Profile, adapters.Deps) (adapters.Model, error) { return server, nil },
	}
	takes := func(adapter, model string, use adapters.ImageUse) bool {
		return registry.TakesImages(t.Context(), adapters.Profile{Name: "p", Adapter: adapter, Model: model, Images: use},
			adapters.Deps{})
	}
	for model, want := range map[string]bool{
		"gpt-5": true, "gpt-4o-mini": true, "claude-sonnet-4-6": true, "claude-2.1": false, "new-model": true,
		"deepseek-chat": false, "deepseek/deepseek-r1:free": false,
		"gpt-4": false, "gpt-4-turbo": true, "gpt-4.1": true, "gpt-3.5-turbo": false, "o3-mini": false, "o3": true,
		"Qwen/Qwen3-Coder-480B": false, "qwen3-vl": true, "llama3": false, "llama3.2-vision": true, "llama-4-scout": true,
		"glm-4.5": false, "glm-4.5v": true, "gemini-3-pro": true,
	} {
		if got := takes("plain", model, adapters.ImagesAuto); got != want {
			t.Errorf("%s takes images: %v", model, got)
		}
	}
	if !takes("plain", "deepseek-chat", adapters.ImagesYes) || takes("plain", "gpt-5", adapters.ImagesNo) {
		t.Error("the profile does not decide")
	}
	if takes("server", "gpt-5", "") {
		t.Error("the server does not decide")
	}
	server.takes = true
	if !takes("server", "deepseek-chat", "") {
		t.Error("the server does not decide")
	}
	server.err = errors.New("no answer")
	if takes("server", "deepseek-chat", "") || !takes("server", "gpt-5", "") {
		t.Error("without an answer the name does not decide")
	}
}

// TestImagesThatAreRefused: a model without images is not asked, and a server's refusal
// says what to do. Both are for a person, and not retried.
func TestImagesThatAreRefused(t *testing.T) {
	model := &seer{}
	registry := adapters.Registry{
		"plain": func(adapters.Profile, adapters.Deps) (adapters.Model, error) { return model, nil }}
	ask := func(use adapters.ImageUse, images ...adapters.Image) error {
		m, err := adapters.NewModels(registry, []adapters.Profile{{Name: "p", Adapter: "plain", Model: "seer", Images: use}},
			adapters.Deps{}).Open("p")
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Chat(
			t.Context(), adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "look", Images: images}}},
			nil)
		return err
	}
	image := adapters.Image{Attachment: company.Attachment{Name: "a.png", Type: "image/png"}, Data: []byte("x")}
	if err := ask(adapters.ImagesNo); err != nil || model.asked != 1 {
		t.Errorf("without an image: %v, asked %d times", err, model.asked)
	}
	err := ask(adapters.ImagesNo, image)
	if adapters.KindOf(err) != adapters.BadRequest || model.asked != 1 {
		t.Errorf("asked %d times: %v", model.asked, err)
	}
	model.err = &adapters.Error{Kind: adapters.BadRequest, Status: 400,
		Message: "Invalid content type. image_url is only supported by certain models."}
	err = ask(adapters.ImagesAuto, image)
	if model.asked != 2 {
		t.Errorf("asked %d times", model.asked)
	}
	explained := adapters.Explain(err, adapters.Info{Model: "seer"})
	var e *company.Error
	if !errors.As(explained, &e) || e.Class != company.HumanRequired ||
		!strings.Contains(e.Hint, "choose a model that takes images") {
		t.Errorf("explained as %+v", e)
	}
}

// TestImageTokens: the bound of a request counts its images.
func TestImageTokens(t *testing.T) {
	bound := func(width, height int) int {
		req := adapters.Request{Messages: []adapters.Message{{Role: adapters.User, Content: "look"}}}
		without := adapters.InputBound(req)
		req.Messages[0].Images = []adapters.Image{
			{Attachment: company.Attachment{Type: "image/png", Width: width, Height: height}}}
		return adapters.InputBound(req) - without
	}
	if small, large := bound(10, 10), bound(3000, 2000); small != 1600 || large != 8000 {
		t.Errorf("a small image counts %d, a large one %d", small, large)
	}
}
