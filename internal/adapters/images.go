package adapters

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"company/internal/lib/lazyregexp"
)

// ImageUse tells whether a model accepts images.
type ImageUse string

const (
	ImagesAuto ImageUse = "auto" // as its server reports, otherwise by its name
	ImagesYes  ImageUse = "yes"
	ImagesNo   ImageUse = "no"
)

// ImageTeller is a model whose server reports whether it accepts images.
type ImageTeller interface {
	Images(ctx context.Context) (bool, error)
}

// textOnlyRE matches names of text-only models, by their vendors' pages as of 2026-11:
// platform.openai.com/docs/models, api-docs.deepseek.com, docs.mistral.ai (models), huggingface.co (gpt-oss,
// Qwen coders, Llama before 4, GLM and Kimi without a v or 2.5). Models with other names are assumed to accept
// images: most newer ones do, and a server that refuses images reports it.
var textOnlyRE = lazyregexp.New(`^(?:` + strings.Join([]string{
	`gpt-3\.5.*`, `gpt-4(?:-32k)?(?:-0\d{3})?`, `o1-(?:mini|preview).*`, `o3-mini.*`, `gpt-oss.*`,
	`claude-(?:2|instant).*`, `deepseek-(?:chat|reasoner|coder|r1|v[23]).*`, `codestral.*`, `(?:open-)?mixtral.*`,
	`qwen.*coder.*`, `qwq.*`, `llama-?(?:2|3|3\.1|3\.3)(?:[-:].*)?`, `code-?llama.*`, `glm-4\.[56](?:-air)?`,
	`kimi-k2(?:-.*)?`, `grok-(?:3|code).*`, `starcoder.*`, `phi-?[34](?:[-:](?:mini|medium|small).*)?`,
}, "|") + `)$`)

// isTextOnly reports whether a model is known by its name to accept only text. It ignores the vendor that
// routers put before the name.
func isTextOnly(model string) bool {
	name := strings.ToLower(model)
	return textOnlyRE.MatchString(name[strings.LastIndex(name, "/")+1:])
}

// TakesImages reports whether images are sent to the model of a profile. It uses the profile's setting, or else
// the report of the model's server, or else the model's name.
func (r Registry) TakesImages(ctx context.Context, profile Profile, deps Deps) bool {
	switch profile.Images {
	case ImagesYes, ImagesNo:
		return profile.Images == ImagesYes
	}
	model, err := r.Open(profile, deps)
	if err != nil {
		return !isTextOnly(profile.Model) // its own check reports the reason
	}
	defer func() { _ = Close(model) }() // no data can be lost
	if teller, ok := unwrapModel(model).(ImageTeller); ok {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		if takes, err := teller.Images(ctx); err == nil {
			return takes
		}
	}
	return !isTextOnly(profile.Model)
}

// imagesFix is the fix for a model that got images but accepts none.
const imagesFix = "choose a model that takes images for the role (agents.<role>.model, then company retry), or " +
	"submit without the images; `images: no` in the model's profile has company submit say so"

// profileModel is the model of a profile. It refuses images that the profile does not allow, and adds the profile's
// hints to Info.
type profileModel struct {
	Model
	profile Profile
}

// Info returns the model's information with the profile's hints.
func (o profileModel) Info() Info {
	info := o.Model.Info()
	info.KeyEnv, info.SetIn = o.profile.KeyEnv, o.profile.SetIn
	return info
}

// Chat sends the request, unless it has images and the profile refuses them.
func (o profileModel) Chat(ctx context.Context, req Request, onEvent func(Event)) (Response, error) {
	if !hasImages(req) {
		return o.Model.Chat(ctx, req, onEvent)
	}
	if o.profile.Images == ImagesNo {
		return Response{}, &Error{Kind: BadRequest,
			Message: fmt.Sprintf("%s takes no images: its profile says `images: no`", o.Info().Model), Fix: imagesFix}
	}
	resp, err := o.Model.Chat(ctx, req, onEvent)
	return resp, explainImages(err)
}

// Unwrap returns the model.
func (o profileModel) Unwrap() []Model { return []Model{o.Model} }

// Close closes the model.
func (o profileModel) Close() error { return Close(o.Model) }

func hasImages(req Request) bool {
	for _, m := range req.Messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}

// aboutImagesRE matches refusals because of images.
var aboutImagesRE = lazyregexp.New(`(?i)\bimages?\b|image_url|\bvision\b|multi-?modal|modalit`)

// explainImages adds the fix to a server's refusal of images.
func explainImages(err error) error {
	var fault *Error
	if errors.As(err, &fault) && fault.Kind == BadRequest && fault.Fix == "" && aboutImagesRE.MatchString(fault.Message) {
		fault.Fix = imagesFix
	}
	return err
}
