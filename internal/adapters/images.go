package adapters

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"company/internal/lazyregexp"
)

// ImageUse says whether a model takes images.
type ImageUse string

const (
	ImagesAuto ImageUse = "auto" // as its server says; else by its name
	ImagesYes  ImageUse = "yes"
	ImagesNo   ImageUse = "no"
)

// ImageTeller is a model whose server tells whether it takes images.
type ImageTeller interface {
	Images(ctx context.Context) (bool, error)
}

// textOnlyRE are names of models that take text alone, by their vendors' pages as of
// 2026-11: platform.openai.com/docs/models, api-docs.deepseek.com, docs.mistral.ai (models),
// huggingface.co (gpt-oss, Qwen coders, Llama before 4, GLM and Kimi without a v or 2.5). A
// model of another name is taken to see: most newer ones do, and a server that refuses
// images says so.
var textOnlyRE = lazyregexp.New(`^(?:` + strings.Join([]string{
	`gpt-3\.5.*`, `gpt-4(?:-32k)?(?:-0\d{3})?`, `o1-(?:mini|preview).*`, `o3-mini.*`, `gpt-oss.*`,
	`claude-(?:2|instant).*`, `deepseek-(?:chat|reasoner|coder|r1|v[23]).*`, `codestral.*`, `(?:open-)?mixtral.*`,
	`qwen.*coder.*`, `qwq.*`, `llama-?(?:2|3|3\.1|3\.3)(?:[-:].*)?`, `code-?llama.*`, `glm-4\.[56](?:-air)?`, `kimi-k2(?:-.*)?`, `grok-(?:3|code).*`, `starcoder.*`, `phi-?[34](?:[-:](?:mini|medium|small).*)?`,
}, "|") + `)$`)

// isTextOnly reports whether a model is known by its name to take text alone. A router puts
// the vendor before the name.
func isTextOnly(model string) bool {
	name := strings.ToLower(model)
	return textOnlyRE.MatchString(name[strings.LastIndex(name, "/")+1:])
}

// TakesImages reports whether images are sent to the model of a profile. The profile's setting
// decides; without one the model's server does, and where that does not say, the model's name.
func (r Registry) TakesImages(ctx context.Context, p Profile, deps Deps) bool {
	switch p.Images {
	case ImagesYes, ImagesNo:
		return p.Images == ImagesYes
	}
	m, err := r.Open(p, deps)
	if err != nil {
		return !isTextOnly(p.Model) // its own check has the reason
	}
	defer func() { _ = Close(m) }() // it has sent nothing that could be lost
	if teller, ok := unwrapModel(m).(ImageTeller); ok {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		if takes, err := teller.Images(ctx); err == nil {
			return takes
		}
	}
	return !isTextOnly(p.Model)
}

// imagesFix is for a model that was sent images and takes none.
const imagesFix = "choose a model that takes images for the role (agents.<role>.model, then company retry), or submit without the images; `images: no` in the model's profile has company submit say so"

// seeing is a model that is sent images as its profile allows.
type seeing struct {
	Model
	images ImageUse
}

// Chat asks the model.
func (s seeing) Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error) {
	if !hasImages(req) {
		return s.Model.Chat(ctx, req, onEvent)
	}
	if s.images == ImagesNo {
		return Response{}, &Error{Kind: BadRequest, Message: fmt.Sprintf("%s takes no images: its profile says `images: no`", s.Info().Model), Fix: imagesFix}
	}
	resp, err := s.Model.Chat(ctx, req, onEvent)
	return resp, explainImages(err)
}

// Unwrap is the model.
func (s seeing) Unwrap() []Model { return []Model{s.Model} }

// Close closes the model.
func (s seeing) Close() error { return Close(s.Model) }

func hasImages(req Request) bool {
	for _, m := range req.Messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}

// aboutImagesRE finds refusals that are about images.
var aboutImagesRE = lazyregexp.New(`(?i)\bimages?\b|image_url|\bvision\b|multi-?modal|modalit`)

// explainImages adds the fix to a server's refusal of images.
func explainImages(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == BadRequest && e.Fix == "" && aboutImagesRE.MatchString(e.Message) {
		e.Fix = imagesFix
	}
	return err
}
