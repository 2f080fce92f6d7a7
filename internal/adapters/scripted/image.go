package scripted

import (
	"encoding/base64"
	"errors"
	"strings"

	"company/internal/adapters"
	"company/internal/company"
)

// ImageOf returns an image from a request.
func ImageOf(mime string, data []byte) adapters.Image {
	return adapters.Image{Attachment: company.Attachment{Type: mime, Bytes: len(data)}, Data: data}
}

// readDataURI decodes an image from a data URI.
func readDataURI(address string) (adapters.Image, error) {
	mime, text, ok := strings.Cut(strings.TrimPrefix(address, "data:"), ";base64,")
	data, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || !strings.HasPrefix(mime, "image/") || len(data) == 0 {
		return adapters.Image{}, errors.New("image_url: invalid image data")
	}
	return ImageOf(mime, data), nil
}
