// A plot of border pairs: WebGL for the points, a second canvas for axes and the chosen pair.
// Positions come as 32-bit shares of the range of an axis, one file per axis, and stay typed arrays: 100,000 pairs take 2 MB.
const MARGIN = { left: 70, right: 10, top: 10, bottom: 48 };
const MIN_SPAN = 4e-6; // of the range: below it, 32-bit positions show
const PICK_PIXELS = 12;
const MANY_POINTS = 20000;
const MAX_COLUMNS_KEPT = 8;

const VERTEX_SHADER = `
attribute float x; attribute float y; attribute float kind;
uniform vec4 view; uniform float size; uniform vec4 palette[16]; uniform float shapes[16];
varying vec4 colour; varying float shape;
void main() {
  int number = int(kind + 0.5);
  colour = palette[number]; shape = shapes[number];
  vec2 place = (vec2(x, y) - view.xy) / view.zw * 2.0 - 1.0;
  gl_Position = colour.a > 0.0 ? vec4(place, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_PointSize = size;
}`;
const FRAGMENT_SHADER = `
precision mediump float;
varying vec4 colour; varying float shape;
void main() {
  vec2 d = abs(gl_PointCoord - 0.5) * 2.0;
  if (shape < 0.5 && dot(d, d) > 1.0) discard;
  if (shape > 0.5 && shape < 1.5 && d.x + d.y > 1.0) discard;
  if (shape > 1.5 && max(d.x, d.y) > 0.85) discard;
  gl_FragColor = vec4(colour.rgb * colour.a, colour.a);
}`;

function parseColour(text) {
  return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);
}

class GlPainter {
  constructor(canvas) {
    const gl = canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true, alpha: true });
    if (!gl) throw new Error("no WebGL");
    this.gl = gl;
    const program = gl.createProgram();
    for (const [type, source] of [[gl.VERTEX_SHADER, VERTEX_SHADER], [gl.FRAGMENT_SHADER, FRAGMENT_SHADER]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("no shader");
    gl.useProgram(program);
    this.places = Object.fromEntries(["x", "y", "kind"].map((name) => [name, gl.getAttribLocation(program, name)]));
    this.uniforms = Object.fromEntries(
      ["view", "size", "palette", "shapes"].map((name) => [name, gl.getUniformLocation(program, name)])
    );
    this.buffers = { x: gl.createBuffer(), y: gl.createBuffer(), kind: gl.createBuffer() };
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }
  setData(name, values) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
  }
  draw(scene) {
    const gl = this.gl;
    const { view, count, seedCount, borders, hidden, ratio } = scene;
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(this.uniforms.view, view.x, view.y, view.width, view.height);
    for (const axis of ["x", "y"]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[axis]);
      gl.enableVertexAttribArray(this.places[axis]);
      gl.vertexAttribPointer(this.places[axis], 1, gl.FLOAT, false, 0, 0);
    }
    const palette = new Float32Array(64);
    const shapes = new Float32Array(16);
    palette.set([0.5, 0.5, 0.5, 0.35], 60); // real inputs
    borders.forEach((border, i) => {
      palette.set([...parseColour(border.colour), hidden.has(i) ? 0 : 0.85], 4 * i);
      shapes[i] = border.shape;
    });
    gl.uniform4fv(this.uniforms.palette, palette);
    gl.uniform1fv(this.uniforms.shapes, shapes);
    gl.disableVertexAttribArray(this.places.kind);
    gl.vertexAttrib1f(this.places.kind, 15);
    gl.uniform1f(this.uniforms.size, 4 * ratio);
    if (seedCount) gl.drawArrays(gl.POINTS, 2 * count, seedCount);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.kind);
    gl.enableVertexAttribArray(this.places.kind);
    gl.vertexAttribPointer(this.places.kind, 1, gl.UNSIGNED_BYTE, false, 0, 0);
    gl.uniform1f(this.uniforms.size, scene.pointSize * ratio);
    if (count) gl.drawArrays(gl.POINTS, 0, count);
  }
  dispose() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

// For browsers without WebGL: points are squares written into the pixels of the canvas.
class PixelPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.data = {};
  }
  setData(name, values) {
    this.data[name] = values;
  }
  draw(scene) {
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image?.height !== height) this.image = this.context.createImageData(width, height);
    const image = this.image; // one for all frames: each takes megabytes
    const pixels = new Uint32Array(image.data.buffer).fill(0);
    const { x, y, kind } = this.data;
    const { view, count, seedCount, borders, hidden, ratio } = scene;
    const colours = borders.map((border, i) => {
      const [r, g, b] = parseColour(border.colour).map((part) => Math.round(part * 255));
      return hidden.has(i) ? 0 : ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    });
    const paint = (row, colour, side) => {
      const left = Math.round(((x[row] - view.x) / view.width) * width - side / 2);
      const top = Math.round((1 - (y[row] - view.y) / view.height) * height - side / 2);
      if (!(left >= -side && left < width && top >= -side && top < height)) return;
      for (let j = Math.max(0, top); j < Math.min(height, top + side); j++)
        for (let i = Math.max(0, left); i < Math.min(width, left + side); i++) pixels[j * width + i] = colour;
    };
    for (let i = 0; i < seedCount; i++) paint(2 * count + i, 0x59808080, Math.round(3 * ratio));
    const side = Math.round(scene.pointSize * ratio * 0.9);
    for (let i = 0; i < count; i++) if (colours[kind[i]]) paint(i, colours[kind[i]], side);
    this.context.putImageData(image, 0, 0);
  }
  dispose() {}
}

function chooseTicks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) || power;
  const digits = Math.max(0, Math.min(15, -Math.floor(Math.log10(step) + 1e-9)));
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high && ticks.length < 40; i++) {
    const value = i * step;
    const text = Math.abs(value) >= 1e7 ? value.toExponential(3) : value.toFixed(digits);
    ticks.push({ value, text });
  }
  return ticks;
}

export default {
  template: `
<div class="front-plot">
  <div class="front-plot-tools">
    <button type="button" @click="zoomAt(0.5)" aria-label="Zoom in">+</button>
    <button type="button" @click="zoomAt(2)" aria-label="Zoom out">−</button>
    <button type="button" @click="showAll()">Show all</button>
    <span class="muted">Drag to move, turn the wheel to zoom, click a pair to see it.</span>
  </div>
  <div class="front-plot-area" ref="area" role="application" tabindex="0" :aria-label="description"
    @wheel.prevent="onWheel" @pointerdown="onDown" @pointermove="onMove" @pointerup="onUp" @pointercancel="onCancel"
    @pointerleave="onLeave" @dblclick="showAll()" @keydown="onKey">
    <canvas ref="points" class="front-plot-points"></canvas>
    <canvas ref="axes" class="front-plot-axes"></canvas>
    <div v-if="message" class="front-plot-message" role="status">{{ message }}</div>
    <div v-if="hint" class="front-plot-hint" aria-hidden="true" :style="{ left: hint.left + 'px', top: hint.top + 'px' }">{{ hint.text }}</div>
  </div>
  <div class="front-plot-legend" role="group" aria-label="Answers that meet; press to hide or show">
    <button v-for="(border, i) in borders" :key="i" type="button" :aria-pressed="hidden.includes(i) ? 'false' : 'true'" @click="toggle(i)">
      <span :class="'mark shape' + border.shape" :style="{ background: border.colour }" aria-hidden="true"></span>
      <span>{{ border.name }} ({{ border.pairs.toLocaleString("en") }})</span>
    </button>
    <span v-if="seed_count" class="front-plot-real"><span class="mark real" aria-hidden="true"></span>real inputs</span>
  </div>
</div>`,
  props: {
    address: String,
    count: Number,
    seed_count: Number,
    borders: Array,
    x_axis: Object,
    y_axis: Object,
    selected: { type: Number, default: -1 },
  },
  data() {
    return { hidden: [], message: "", hint: null };
  },
  computed: {
    description() {
      return (
        `Plot of ${this.count} border pairs: ${this.x_axis.label} across, ${this.y_axis.label} upwards. ` +
        "Arrow keys move, plus and minus zoom, 0 shows all, Enter opens the pair nearest to the centre. " +
        "The table below the plot has the same pairs."
      );
    },
  },
  created() {
    this.columns = new Map();
    this.view = { x: -0.04, y: -0.04, width: 1.08, height: 1.08 };
    this.pointers = new Map();
    this.frames = 0;
  },
  async mounted() {
    try {
      this.painter = new GlPainter(this.$refs.points);
      this.$el.dataset.painter = "webgl";
    } catch {
      const canvas = this.$refs.points.cloneNode();
      this.$refs.points.replaceWith(canvas);
      this.pointsCanvas = canvas;
      this.painter = new PixelPainter(canvas);
      this.$el.dataset.painter = "pixels";
    }
    this.pointsCanvas ||= this.$refs.points;
    this.pointsCanvas.addEventListener("webglcontextlost", () => {
      this.lost = true;
    });
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.$refs.area);
    this.themeObserver = new MutationObserver(() => this.schedule());
    this.themeObserver.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    await this.load();
  },
  beforeUnmount() {
    this.observer?.disconnect();
    this.themeObserver?.disconnect();
    this.painter?.dispose();
    this.columns.clear();
    this.ended = true;
  },
  watch: {
    x_axis() {
      this.load();
    },
    y_axis() {
      this.load();
    },
    selected() {
      this.schedule();
    },
  },
  methods: {
    async fetchBytes(name) {
      const response = await fetch(`${this.address}/${name}`, { credentials: "same-origin" });
      if (!response.ok) throw new Error(await response.text());
      return response.arrayBuffer();
    },
    async loadColumn(number) {
      if (!this.columns.has(number)) {
        const values = new Float32Array(await this.fetchBytes(`columns/${number}`));
        this.columns.set(number, values);
        if (this.columns.size > MAX_COLUMNS_KEPT) this.columns.delete(this.columns.keys().next().value);
      }
      return this.columns.get(number);
    },
    async load() {
      const turn = (this.turn = (this.turn || 0) + 1);
      this.message = "Loading the pairs";
      delete this.$el.dataset.ready;
      try {
        this.kinds ||= new Uint8Array(await this.fetchBytes("borders"));
        const [x, y] = await Promise.all([this.loadColumn(this.x_axis.number), this.loadColumn(this.y_axis.number)]);
        if (turn !== this.turn || this.ended) return;
        this.x = x;
        this.y = y;
        this.painter.setData("x", x);
        this.painter.setData("y", y);
        this.painter.setData("kind", this.kinds);
        this.message = this.count ? "" : "No border pair was found.";
        this.showAll();
        this.resize();
        this.$el.dataset.ready = "true";
      } catch (error) {
        if (turn === this.turn) this.message = "The pairs cannot be loaded. Load the page again.";
      }
    },
    resize() {
      const area = this.$refs.area;
      if (!area || !area.clientWidth) return;
      this.ratio = Math.min(2, window.devicePixelRatio || 1);
      this.width = area.clientWidth;
      this.height = area.clientHeight;
      this.plotWidth = Math.max(10, this.width - MARGIN.left - MARGIN.right);
      this.plotHeight = Math.max(10, this.height - MARGIN.top - MARGIN.bottom);
      const points = this.pointsCanvas;
      Object.assign(points.style, {
        left: `${MARGIN.left}px`,
        top: `${MARGIN.top}px`,
        width: `${this.plotWidth}px`,
        height: `${this.plotHeight}px`,
      });
      points.width = Math.round(this.plotWidth * this.ratio);
      points.height = Math.round(this.plotHeight * this.ratio);
      const axes = this.$refs.axes;
      axes.width = Math.round(this.width * this.ratio);
      axes.height = Math.round(this.height * this.ratio);
      this.schedule();
    },
    schedule() {
      if (this.waiting || this.ended) return;
      this.waiting = true;
      requestAnimationFrame(() => {
        this.waiting = false;
        if (!this.ended) this.draw();
      });
    },
    draw() {
      if (!this.width || !this.x) return;
      const hidden = new Set(this.hidden);
      const pointSize = this.count > MANY_POINTS ? 4 : this.count > 2000 ? 6 : 8;
      this.painter.draw({
        view: this.view,
        count: this.count,
        seedCount: this.seed_count,
        borders: this.borders,
        hidden,
        ratio: this.ratio,
        pointSize,
      });
      this.drawAxes();
      this.frames += 1;
      this.$el.dataset.frames = this.frames;
    },
    toPixels(x, y) {
      const { view } = this;
      return [
        MARGIN.left + ((x - view.x) / view.width) * this.plotWidth,
        MARGIN.top + (1 - (y - view.y) / view.height) * this.plotHeight,
      ];
    },
    listTicks(axis, start, span, count) {
      const low = axis.low + start * (axis.high - axis.low);
      const high = low + span * (axis.high - axis.low);
      if (axis.names.length) {
        const first = Math.max(0, Math.ceil(low));
        const last = Math.min(axis.names.length - 1, Math.floor(high));
        const step = Math.max(1, Math.ceil((last - first + 1) / count));
        const ticks = [];
        for (let i = first; i <= last; i += step) ticks.push({ value: i, text: axis.names[i] });
        return ticks;
      }
      return chooseTicks(low, high, count);
    },
    drawAxes() {
      const context = this.$refs.axes.getContext("2d");
      const { view, width, height, plotWidth, plotHeight, ratio } = this;
      const style = getComputedStyle(this.$refs.area);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = `12px ${style.fontFamily}`;
      context.fillStyle = style.color;
      context.strokeStyle = "rgba(128,128,128,.28)";
      context.lineWidth = 1;
      const toShare = (axis, value) => (value - axis.low) / (axis.high - axis.low);
      const cut = (text, room) => {
        if (context.measureText(text).width <= room) return text;
        while (text.length > 1 && context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
        return `${text}…`;
      };
      context.textAlign = "center";
      context.textBaseline = "top";
      const xTicks = this.listTicks(this.x_axis, view.x, view.width, Math.max(2, Math.floor(plotWidth / 90)));
      for (const tick of xTicks) {
        const [x] = this.toPixels(toShare(this.x_axis, tick.value), 0);
        context.beginPath();
        context.moveTo(x, MARGIN.top);
        context.lineTo(x, MARGIN.top + plotHeight);
        context.stroke();
        context.fillText(cut(tick.text, plotWidth / Math.max(1, xTicks.length) - 6), x, MARGIN.top + plotHeight + 6);
      }
      context.textAlign = "right";
      context.textBaseline = "middle";
      for (const tick of this.listTicks(this.y_axis, view.y, view.height, Math.max(2, Math.floor(plotHeight / 50)))) {
        const [, y] = this.toPixels(0, toShare(this.y_axis, tick.value));
        context.beginPath();
        context.moveTo(MARGIN.left, y);
        context.lineTo(MARGIN.left + plotWidth, y);
        context.stroke();
        context.fillText(cut(tick.text, MARGIN.left - 26), MARGIN.left - 6, y);
      }
      context.strokeRect(MARGIN.left + 0.5, MARGIN.top + 0.5, plotWidth - 1, plotHeight - 1);
      context.textAlign = "center";
      context.font = `600 12px ${style.fontFamily}`;
      context.fillText(cut(this.x_axis.label, plotWidth), MARGIN.left + plotWidth / 2, height - 14);
      context.save();
      context.translate(12, MARGIN.top + plotHeight / 2);
      context.rotate(-Math.PI / 2);
      context.fillText(cut(this.y_axis.label, plotHeight), 0, 0);
      context.restore();
      const row = this.selected;
      if (row >= 0 && row < this.count) {
        const first = this.toPixels(this.x[row], this.y[row]);
        const second = this.toPixels(this.x[this.count + row], this.y[this.count + row]);
        context.save();
        context.beginPath();
        context.rect(MARGIN.left, MARGIN.top, plotWidth, plotHeight);
        context.clip();
        context.strokeStyle = style.color;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(...first);
        context.lineTo(...second);
        context.stroke();
        for (const [place, radius] of [[first, 8], [second, 5]]) {
          context.beginPath();
          context.arc(place[0], place[1], radius, 0, 2 * Math.PI);
          context.stroke();
        }
        context.restore();
      }
    },
    locate(event) {
      const box = this.$refs.area.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    },
    pick(left, top, reach = PICK_PIXELS) {
      if (!this.x) return -1;
      const { view, plotWidth, plotHeight } = this;
      const x = view.x + ((left - MARGIN.left) / plotWidth) * view.width;
      const y = view.y + (1 - (top - MARGIN.top) / plotHeight) * view.height;
      const xScale = plotWidth / view.width;
      const yScale = plotHeight / view.height;
      let nearest = -1;
      let smallest = reach * reach;
      for (let i = 0; i < this.count; i++) {
        const dx = (this.x[i] - x) * xScale;
        const dy = (this.y[i] - y) * yScale;
        const square = dx * dx + dy * dy;
        if (square < smallest && !this.hidden.includes(this.kinds[i])) {
          smallest = square;
          nearest = i;
        }
      }
      return nearest;
    },
    zoomAt(factor, left = MARGIN.left + this.plotWidth / 2, top = MARGIN.top + this.plotHeight / 2) {
      const { view } = this;
      const limit = (span) => Math.min(4, Math.max(MIN_SPAN, span * factor));
      const xShare = (left - MARGIN.left) / this.plotWidth;
      const yShare = 1 - (top - MARGIN.top) / this.plotHeight;
      const width = limit(view.width);
      const height = limit(view.height);
      this.view = {
        x: view.x + xShare * (view.width - width),
        y: view.y + yShare * (view.height - height),
        width,
        height,
      };
      this.schedule();
    },
    move(dx, dy) {
      this.view = { ...this.view, x: this.view.x + dx * this.view.width, y: this.view.y + dy * this.view.height };
      this.schedule();
    },
    showAll() {
      this.view = { x: -0.04, y: -0.04, width: 1.08, height: 1.08 };
      this.schedule();
    },
    open(row) {
      if (row >= 0) this.$emit("pair", { number: row });
    },
    toggle(i) {
      this.hidden = this.hidden.includes(i) ? this.hidden.filter((j) => j !== i) : [...this.hidden, i];
      this.schedule();
    },
    onWheel(event) {
      const [left, top] = this.locate(event);
      this.hint = null;
      this.zoomAt(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 400))), left, top);
    },
    onDown(event) {
      if (event.button) return;
      this.pointers.set(event.pointerId, this.locate(event));
      this.distance = 0;
      this.hint = null;
      this.$refs.area.setPointerCapture?.(event.pointerId);
    },
    onMove(event) {
      const place = this.locate(event);
      const before = this.pointers.get(event.pointerId);
      if (!before) {
        this.hover = place;
        this.hoverWaiting ||= requestAnimationFrame(() => {
          this.hoverWaiting = 0;
          this.showHint();
        });
        return;
      }
      this.pointers.set(event.pointerId, place);
      const [dx, dy] = [place[0] - before[0], place[1] - before[1]];
      this.distance += Math.abs(dx) + Math.abs(dy);
      if (this.pointers.size === 2) {
        const other = [...this.pointers.entries()].find(([key]) => key !== event.pointerId)[1];
        const length = (a) => Math.max(20, Math.hypot(a[0] - other[0], a[1] - other[1]));
        this.zoomAt(length(before) / length(place), (place[0] + other[0]) / 2, (place[1] + other[1]) / 2);
      } else if (this.distance > 4) {
        this.move(-dx / this.plotWidth, dy / this.plotHeight);
      }
    },
    showHint() {
      if (!this.hover || this.ended) return;
      const row = this.pick(...this.hover, 8);
      this.$refs.area.style.cursor = row >= 0 ? "pointer" : "";
      this.hint =
        row < 0
          ? null
          : {
              text: `pair ${row}: ${this.borders[this.kinds[row]].name}`,
              left: Math.min(this.hover[0] + 12, this.width - 160),
              top: this.hover[1] + 14,
            };
    },
    onUp(event) {
      if (!this.pointers.delete(event.pointerId)) return;
      if (this.distance <= 4 && !this.pointers.size) this.open(this.pick(...this.locate(event)));
    },
    onCancel(event) {
      this.pointers.delete(event.pointerId);
    },
    onLeave() {
      this.hover = null;
      this.hint = null;
    },
    onKey(event) {
      const actions = {
        ArrowLeft: () => this.move(-0.1, 0),
        ArrowRight: () => this.move(0.1, 0),
        ArrowUp: () => this.move(0, 0.1),
        ArrowDown: () => this.move(0, -0.1),
        "+": () => this.zoomAt(0.7),
        "=": () => this.zoomAt(0.7),
        "-": () => this.zoomAt(1 / 0.7),
        0: () => this.showAll(),
        Enter: () => this.open(this.pick(MARGIN.left + this.plotWidth / 2, MARGIN.top + this.plotHeight / 2, 1e6)),
      };
      if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      actions[event.key]();
    },
  },
};
