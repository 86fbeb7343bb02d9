/** How to do without the Python that the emulator needs: the end of every sentence that says it is not to be had. */
export const withoutPython =
  'or do without and set AWS_ENDPOINT_URL to an emulator of your own, for example that of MiniStack in a container ' +
  '(docker run --network host ministackorg/ministack, then AWS_ENDPOINT_URL=http://127.0.0.1:4566)';
