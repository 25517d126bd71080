package crd_test

import (
	"fmt"

	"github.com/gorizond/koldun/terraform-provider/internal/crd"
)

// A kind's fields carry their names in YAML and in Terraform.
func ExampleLoad() {
	k, err := crd.Load(crd.Composite, "dllamas")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k.APIVersion(), k.Kind)
	model := k.Spec.Child("modelRef")
	fmt.Println(model.Name, model.Attribute, model.Child("name").Required)
	fmt.Println(k.Spec.Child("engine").Child("maxSeqLen").Attribute)
	// Output:
	// koldun.gorizond.io/v1 Dllama
	// modelRef model_ref true
	// max_seq_len
}
