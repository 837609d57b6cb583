"""Reading convolutions from the text of compiled programs, in short texts with real lines."""

import pytest

from factorio_rl.convolutions import Convolution, Kind, list_convolutions

GPU = """\
HloModule jit_two, is_scheduled=true, entry_computation_layout={(f32[64,8,8,32]{3,2,1,0})->f32[]}

FileNames
1 "convolution(.py"

%fused_convert (param_0.7: f32[64,8,8,32]) -> f8e4m3fn[64,8,8,32] {
  %param_0.7 = f32[64,8,8,32]{3,2,1,0} parameter(0)
  ROOT %convert.1 = f8e4m3fn[64,8,8,32]{3,2,1,0} convert(%param_0.7), metadata={op_name="a"}
}

%region_0.4 (arg_tuple.1: (s32[], f32[64,8,8,32], /*index=2*/f8e4m3fn[32,3,3,32])) -> (s32[]) {
  %arg_tuple.1 = (s32[], f32[64,8,8,32]{3,2,1,0}, f8e4m3fn[32,3,3,32]{3,2,1,0}) parameter(0)
  %get-tuple-element.1 = f32[64,8,8,32]{3,2,1,0} get-tuple-element(%arg_tuple.1), index=1
  %get-tuple-element.2 = f8e4m3fn[32,3,3,32]{3,2,1,0} get-tuple-element(%arg_tuple.1), index=2
  %fusion.1 = f8e4m3fn[64,8,8,32]{3,2,1,0} fusion(%get-tuple-element.1), calls=%fused_convert
  %convolution.9 = f32[] add(%a, %b), metadata={op_name="is no convolution(%a, %b)"}
  %cudnn-conv.2 = (f8e4m3fn[64,8,8,32]{3,2,1,0:T(8,128)}, u8[0]{0}) custom-call(%fusion.1, \
%get-tuple-element.2, %s), custom_call_target="__cudnn$convForwardGraph", backend_config={"a":"(["}
  %norm = (f32[8]{0}, u8[0]{0}) custom-call(%x), custom_call_target="__cudnn$norm"
}

ENTRY %main.6 (x.1: f32[64,8,8,32], k.1: f32[32,3,3,32]) -> f32[64,8,8,32] {
  %x.1 = bf16[64,8,8,32]{3,2,1,0} parameter(0), metadata={op_name="x"}
  %k.1 = bf16[32,3,3,32]{3,2,1,0} parameter(1), metadata={op_name="k"}
  %cudnn-conv.1 = (bf16[64,8,8,32]{3,2,1,0}, u8[0]{0}) custom-call(%x.1, %k.1, /*index=2*/%b), \
custom_call_target="__cudnn$convBiasActivationForward"
  %bw-input = (bf16[64,8,8,32]{3,2,1,0}, u8[0]{0}) custom-call(%x.1, %k.1), \
custom_call_target="__cudnn$convBackwardInput"
  ROOT %bw-filter = (f32[32,3,3,32]{3,2,1,0}, u8[0]{0}) custom-call(%x.1, %x.1), \
custom_call_target="__cudnn$convBackwardFilter"
}
"""


def test_calls_of_cudnn_are_listed_with_the_types_of_their_definitions() -> None:
    assert list_convolutions(GPU) == [
        Convolution(
            "cudnn-conv.2",
            "region_0.4",
            "forward",
            "__cudnn$convForwardGraph",
            "f8e4m3fn",
            "f8e4m3fn",
            "f8e4m3fn",
        ),
        Convolution(
            "cudnn-conv.1",
            "main.6",
            "forward",
            "__cudnn$convBiasActivationForward",
            "bf16",
            "bf16",
            "bf16",
        ),
        Convolution(
            "bw-input",
            "main.6",
            "backward-input",
            "__cudnn$convBackwardInput",
            "bf16",
            "bf16",
            "bf16",
        ),
        Convolution(
            "bw-filter",
            "main.6",
            "backward-filter",
            "__cudnn$convBackwardFilter",
            "bf16",
            "bf16",
            "f32",
        ),
    ]


def test_types_printed_with_the_operands_are_read_where_there_is_no_definition() -> None:
    text = """\
ENTRY main (x: f8e4m3fn[1,2,3,4], k: f8e4m3fn[4,3,3,4]) -> f32[1,2,3,4] {
  ROOT conv = (f32[1,2,3,4]{3,2,1,0}, u8[]) custom-call(f8e4m3fn[1,2,3,4]{3,2,1,0} x, \
f8e5m2[4,3,3,4]{3,2,1,0} k), custom_call_target="__cudnn$convForward"
}
"""
    [one] = list_convolutions(text)
    assert (one.name, one.computation) == ("conv", "main")
    assert (one.input_dtype, one.kernel_dtype, one.result_dtype) == ("f8e4m3fn", "f8e5m2", "f32")


def test_a_name_is_looked_up_in_its_own_computation() -> None:
    text = """\
%other (x: f32[1]) -> f32[1] {
  %x = f8e4m3fn[1,8,8,4]{3,2,1,0} parameter(0)
}

ENTRY %main (x: f32[1]) -> f32[1] {
  %x = bf16[1,8,8,4]{3,2,1,0} parameter(0)
  ROOT %c = bf16[1,8,8,4]{3,2,1,0} convolution(%x, %x), window={size=3x3 pad=1_1x1_1}
}
"""
    [one] = list_convolutions(text)
    assert (one.input_dtype, one.kernel_dtype) == ("bf16", "bf16")


FUSION = """\
%conv_comp (a: f8e4m3fn[64,8,8,32], b: KERNEL[32,3,3,32]) -> f32[64,8,8,32] {
  %a = f8e4m3fn[64,8,8,32]{3,2,1,0} parameter(0)
  %b = KERNEL[32,3,3,32]{3,2,1,0} parameter(1)
  %convert.1 = f32[64,8,8,32]{3,2,1,0} convert(%a)
  %convert.2 = f32[32,3,3,32]{3,2,1,0} convert(%b)
  %conv.1 = f32[64,8,8,32]{3,2,1,0} convolution(%convert.1, %convert.2), \
window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, convolution_kind=fprop
  ROOT %cast = f8e4m3fn[64,8,8,32]{3,2,1,0} convert(%conv.1)
}

%body (x: f32[]) -> f32[] {
  %fusion.7 = f8e4m3fn[64,8,8,32]{3,2,1,0} fusion(%x, %k), kind=kCustom, calls=%conv_comp
}
"""


def test_a_cudnn_fusion_belongs_to_its_caller_and_reads_what_it_casts_from_fp8() -> None:
    [one] = list_convolutions(FUSION.replace("KERNEL", "f8e4m3fn"))
    assert (one.computation, one.target, one.kind) == ("body", "__cudnn$fusion", "forward")
    assert (one.input_dtype, one.kernel_dtype) == ("f8e4m3fn", "f8e4m3fn")
    assert one.result_dtype == "f8e4m3fn"


def test_a_cast_of_bf16_inside_a_cudnn_fusion_leaves_a_float32_operand() -> None:
    [one] = list_convolutions(FUSION.replace("KERNEL", "bf16"))
    assert (one.input_dtype, one.kernel_dtype) == ("f8e4m3fn", "f32")


GRADIENT = 'metadata={op_name="jit(update)/transpose(jvp(Network))/Conv_0/conv_general_dilated"}'


@pytest.mark.parametrize(
    ("result", "window", "metadata", "kind"),
    [
        ("f32[32,8,8,32]", "3x3", 'metadata={op_name="jit(f)/jvp(Network)/Conv_0"}', "forward"),
        ("f32[32,8,8,32]", "3x3", GRADIENT, "backward-input"),
        ("f32[32,3,3,32]", "8x8", GRADIENT, "backward-filter"),
        # XLA:CPU rewrites this one and drops its name.
        ("f32[32,3,3,32]", "8x8", "stack_frame_id=1", "backward-filter"),
    ],
)
def test_plain_convolutions_of_a_cpu_are_told_apart_by_name_and_shape(
    result: str, window: str, metadata: str, kind: Kind
) -> None:
    text = f"""\
%fused (p: f32[1], q: f32[1]) -> f32[1] {{
  %p = f32[32,8,8,32]{{3,2,1,0}} parameter(0)
  %q = f32[3,3,32,32]{{3,2,1,0}} parameter(1)
  ROOT %c = {result}{{3,2,1,0}} convolution(%p, %q), window={{size={window} pad=1_1x1_1}}, \
dim_labels=b01f_01io->b01f, {metadata}
}}

%wrapped (x: f32[1]) -> f32[1] {{
  ROOT %ynn_fusion = {result}{{3,2,1,0}} fusion(%x, %y), kind=kCustom, calls=%fused
}}

ENTRY %main (x: f32[1]) -> f32[1] {{
  ROOT %call = {result}{{3,2,1,0}} call(%x), to_apply=%wrapped, metadata={{op_name="a"}}
}}
"""
    expected = Convolution("c", "main", kind, "convolution", "f32", "f32", "f32")
    assert list_convolutions(text) == [expected]


def test_text_that_is_no_program_has_no_convolutions() -> None:
    assert list_convolutions("") == []
    assert list_convolutions("  %a = \n  b = (f32[\n%c {\n  ROOT %d = f32[1] convolution(%e") == []
    assert list_convolutions("%c {\n  %d = f32[1] convolution(%e)") == []
